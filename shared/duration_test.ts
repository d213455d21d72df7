import { pure } from "../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import { cases } from "../tests/fixtures/cases.ts";
import { GO_DURATION_PATTERN, parseGoDuration } from "./duration.ts";

const MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  "µs": 1e-3,
  "μs": 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

pure("parseGoDuration() reads every unit, sums and fractions", () => {
  for (const [unit, ms] of Object.entries(MS)) assert.equal(parseGoDuration(`3${unit}`), 3 * ms);
  const forms: Readonly<Record<string, number>> = {
    ...{ "0": 0, "+0": 0, "0s": 0, "24h": 86_400_000, "7d": 604_800_000, "1h30m": 5_400_000 },
    ...{ "1.5h": 5_400_000, ".5s": 500, "1.s": 1000, "+5m": 300_000, "1d12h": 129_600_000 },
    ...{ "12h1d": 129_600_000, "1m1m": 120_000, "1.1s": 1100, "0.1d": 8_640_000 },
    ...{ "2h0.5m1500ms": 7_231_500, "1.9ns": 1e-6, "106751d": 9_223_286_400_000 },
  };
  for (const [text, ms] of Object.entries(forms)) assert.equal(parseGoDuration(text), ms, text);
});

pure("parseGoDuration() refuses what is no duration, naming the text", () => {
  const odd = [
    ...["", "5", "h", ".", ".h", "1w", "1h 30m", " 1h", "1H", "1,5h", "1e3s", "++1h", "1h-30m"],
    ...["NaN", "Infinity", "１h", "1h\n", "P1D", "1.2.3h"],
  ];
  const long = ["106752d", "2562048h", "9223372036854775808ns", "9".repeat(60) + "s"];
  const rows: readonly (readonly [readonly string[], RegExp])[] = [
    [odd, /".*" .*90s/],
    [["-1h", "-0s", "-1h30m"], /is negative/],
    [long, /is more than 292 years$/],
    [[`${"0".repeat(64)}s`], /\(65 characters\) is not/],
  ];
  for (const [texts, message] of rows) {
    for (const text of texts) {
      assert.throws(() => parseGoDuration(text), { name: "SyntaxError", message }, text);
    }
  }
});

pure("parseGoDuration() adds the parts, in whatever order they come", () => {
  const part = fc.record({ count: fc.nat(9_000), unit: fc.constantFrom("ms", "s", "m", "h", "d") });
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 6 }), (parts) => {
      const text = parts.map(({ count, unit }) => `${count}${unit}`).join("");
      const sum = parts.reduce((ms, { count, unit }) => ms + count * (MS[unit] as number), 0);
      assert.equal(parseGoDuration(text), sum);
      assert.equal(parseGoDuration(text), parseGoDuration(text.replaceAll(/(\d+)d/g, dayAsHours)));
    }),
    cases(5),
  );
});

function dayAsHours(_part: string, days: string): string {
  return `${24 * Number(days)}h`;
}

pure("parseGoDuration() reads what GO_DURATION_PATTERN matches, and nothing else", () => {
  const pattern = new RegExp(GO_DURATION_PATTERN);
  const text = fc.oneof(
    fc.stringMatching(/^[-+]?[0-9.dhmsnu ]{0,8}$/),
    fc.stringMatching(/^(\d{1,3}(\.\d{1,2})?(ns|us|ms|s|m|h|d)){1,3}$/),
  );
  let read = 0;
  fc.assert(
    fc.property(text, (one) => {
      if (pattern.test(one)) {
        read++;
        assert.ok(parseGoDuration(one) >= 0);
      } else assert.throws(() => parseGoDuration(one), SyntaxError);
    }),
    cases(5),
  );
  assert.ok(read > 0);
});
