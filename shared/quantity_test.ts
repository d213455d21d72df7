import fc from "fast-check";
import assert from "node:assert/strict";
import { forAll } from "../tests/fixtures/for_all.ts";
import { pure } from "../tests/fixtures/pure.ts";
import { type AuditedChange, auditLineSchema, createAuditLog } from "./audit_log.ts";
import { defined, mapDefined } from "./defined.ts";
import { GO_DURATION_PATTERN, parseGoDuration } from "./duration.ts";
import {
  formatBytes,
  formatCPU,
  parseBytes,
  parseBytesBound,
  parseCPU,
  parseCPUBound,
  parseNanoCPU,
  sumCPU,
} from "./quantity.ts";
import { nearestName } from "./nearest_name.ts";
import { cutToBytes, plainLine, quotedText } from "./quoted_text.ts";
import { exponential, logNormal, type Random, seededRandom, standardNormal } from "./random.ts";

const MOST = Number.MAX_SAFE_INTEGER;

pure("quantities are read in every form that Kubernetes accepts, rounded up", () => {
  const zeros = "0".repeat(998);
  const rows: readonly (readonly [(text: string) => number, Readonly<Record<string, number>>])[] = [
    [parseCPU, { "0": 0, "1": 1000, "250m": 250, "0.1": 100, "1.": 1000, ".5": 500, "+2": 2000 }],
    [parseCPU, { "007": 7000, "1500000n": 2, "1500000u": 1500, "2k": 2_000_000, "3M": 3e9 }],
    [parseCPU, { "4G": 4e12, "0.001T": 1e12, "0.000001P": 1e12, "0.000000001E": 1e12 }],
    [parseCPU, { "1Ki": 1_024_000, "1.5Ki": 1_536_000, "1Mi": 1_048_576_000 }],
    [parseCPU, { "1Gi": 1_073_741_824_000, "0.001Ti": 1_099_511_627_776 }],
    [parseCPU, { "0.000001Pi": 1_125_899_906_843, "0.000000001Ei": 1_152_921_504_607 }],
    [parseCPU, { "1e3": 1_000_000, "1E-1": 100, "12e+1": 120_000, "5E0": 5000, "0.3": 300 }],
    [parseCPU, { "1n": 1, "0.1m": 1, "0.0000000000001": 1, "1e-4000": 1, "100.1m": 101 }],
    [parseCPU, { "1e-99999999999999999999": 1, "0e9999999999": 0, "0.30000000000000004": 301 }],
    [parseCPU, { [`${MOST}m`]: MOST, "9007199254740990.1m": MOST, [`1.${zeros}`]: 1000 }],
    [parseCPUBound, { "250m": 250, "9007199254740992m": MOST, "1E": MOST, "1e999999999": MOST }],
    [parseBytesBound, { "64Mi": 2 ** 26, "9007199254740992": MOST, "8Ei": MOST }],
    [parseNanoCPU, { "1n": 1, "123456n": 123_456, "1500u": 1_500_000, "2m": 2e6, "0.5": 5e8 }],
  ];
  for (const [parse, forms] of rows) {
    for (const [text, value] of Object.entries(forms)) assert.equal(parse(text), value, text);
  }
});

pure("quantities that Kubernetes refuses, or that can't be counted, are refused by name", () => {
  const odd = [
    ...["", ".", "+", "m", "1 ", " 1", "1 m", "1.2.3", "1e", "1e1.5", "1ki", "1K", "1i", "1mi"],
    ...["1am", "e3", "0x10", "1,5", "NaN", "Infinity", "1e3m", "1m1", "--1", "１"],
  ];
  const large = ["9007199254740992m", "9007199254740991.1m", "1E", "1Ei", "1e999999999"];
  const rows: readonly (readonly [(text: string) => number, readonly string[], RegExp])[] = [
    [parseCPU, odd, / is not a number /],
    [parseCPU, ["-1", "-250m", "-1e3"], /^Cannot parse CPU.* is negative/],
    [parseCPU, large, / is more than /],
    [parseCPU, [`1.${"0".repeat(999)}`], /"1\.0{62}…" \(1001 characters\) is not/],
    [parseCPUBound, ["-1", "-1E", "two", ""], / is n/],
    [parseBytesBound, ["-1", "much", ""], /^Cannot parse memory/],
    [parseNanoCPU, ["-1", "10M"], / is (negative|more than \d+n$)/],
  ];
  for (const [parse, texts, message] of rows) {
    for (const text of texts) {
      assert.throws(() => parse(text), { name: "SyntaxError", message }, text);
      const quoted = (error: Error) => text.length > 64 || error.message.includes(`"${text}"`);
      assert.throws(() => parse(text), quoted);
    }
  }
});

pure("sumCPU() is exact, or the largest number that can be counted", () => {
  assert.deepEqual([sumCPU([]), sumCPU([200, 50])], [0, 250]);
  assert.equal(formatCPU(sumCPU([2 ** 52, 2 ** 52, 7])), "9007199254740991m");
});

pure("formatCPU() and formatBytes() write whole CPUs and mebibytes, and refuse fractions", () => {
  assert.deepEqual([0, 250, 1000, 2500].map(formatCPU), ["0", "250m", "1", "2500m"]);
  const bytes = [0, 1, 2 ** 20 - 1, 2 ** 20, 104_857_600, 2 ** 31, 73_847_603].map(formatBytes);
  assert.deepEqual(bytes, ["0", "1", "1048575", "1Mi", "100Mi", "2048Mi", "73847603"]);
  for (const wrong of [-1, 0.5, NaN, Infinity, 1e21]) {
    const message = new RegExp(` ${String(wrong).replace("+", "\\+")} `);
    for (const format of [formatCPU, formatBytes]) {
      assert.throws(() => format(wrong), { name: "RangeError", message });
    }
  }
});

forAll("parseCPU() reads back formatCPU(), parseBytes() formatBytes(), which has no m", [
  fc.nat({ max: MOST }),
  fc.nat({ max: 2 ** 33 - 1 }),
], (amount, mebi) => {
  assert.equal(parseCPU(formatCPU(amount)), amount);
  for (const bytes of [amount, mebi * 2 ** 20]) {
    assert.equal(parseBytes(formatBytes(bytes)), bytes);
    assert.match(formatBytes(bytes), /^\d+(Mi)?$/);
  }
});

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

const durationLike = fc.oneof(
  fc.stringMatching(/^[-+]?[0-9.dhmsnu ]{0,8}$/),
  fc.stringMatching(/^(\d{1,3}(\.\d{1,2})?(ns|us|ms|s|m|h|d)){1,3}$/),
);

forAll("parseGoDuration() reads what GO_DURATION_PATTERN matches", [durationLike], (text) => {
  if (new RegExp(GO_DURATION_PATTERN).test(text)) assert.ok(parseGoDuration(text) >= 0);
  else assert.throws(() => parseGoDuration(text), SyntaxError);
});

const DRAWS = 100_000;

/** Mean and variance of a draw, and the standard deviations of it and of its squared deviation. */
const DISTRIBUTIONS: Readonly<
  Record<
    string,
    readonly [(random: Random) => number, mean: readonly number[], variance: readonly number[]]
  >
> = {
  "next()": [(random) => random.next(), [1 / 2, Math.sqrt(1 / 12)], [1 / 12, Math.sqrt(1 / 180)]],
  // The fourth central moment is 9 mean⁴, hence the squared deviation varies by √8 mean².
  "exponential()": [(random) => exponential(random, 3), [3, 3], [9, 9 * Math.sqrt(8)]],
  "standardNormal()": [standardNormal, [0, 1], [1, Math.sqrt(2)]],
  // With s = 1 + cv² = 1.25: kurtosis s⁴ + 2 s³ + 3 s² − 3 = 8.035.
  "logNormal()": [
    (random) => logNormal(random, { mean: 40, variation: 0.5 }),
    [40, 20],
    [400, 400 * Math.sqrt(8.035 - 1)],
  ],
};

pure("random numbers have mean and variance of their distribution, within five errors", () => {
  for (const [name, [draw, ...expected]] of Object.entries(DISTRIBUTIONS)) {
    const random = seededRandom(2024);
    const drawn = Array.from({ length: DRAWS }, () => draw(random));
    const mean = drawn.reduce((sum, one) => sum + one, 0) / DRAWS;
    const variance = drawn.reduce((sum, one) => sum + (one - mean) ** 2, 0) / DRAWS;
    for (const [index, [value = NaN, deviation = NaN]] of expected.entries()) {
      const error = Math.abs((index === 0 ? mean : variance) - value);
      assert.ok(error <= 5 * deviation / Math.sqrt(DRAWS), `${name} is off by ${error}`);
    }
  }
  assert.equal(logNormal(seededRandom(3), { mean: 40, variation: 0 }), 40);
});

pure("seededRandom() refuses any seed but an integer", () => {
  for (const seed of [0.5, NaN, Infinity, 2 ** 53]) {
    assert.throws(() => seededRandom(seed), new RegExp(`^RangeError: .*seed is ${seed},`));
  }
});

pure("exponential() and logNormal() stay finite at both ends of the source", () => {
  for (const value of [0, 1 - 2 ** -32]) {
    const random: Random = { next: () => value };
    assert.ok(Number.isFinite(exponential(random, 1)) && exponential(random, 1) >= 0);
    const drawn = logNormal(random, { mean: 1, variation: 2 });
    assert.ok(Number.isFinite(drawn) && drawn > 0);
  }
});

pure("quotedText() quotes plain text, escapes what can't be seen, and cuts long text", () => {
  for (const text of ["", "maybe", "2 cores", "0.5x,30s", "größer", "１", "🐢", "→"]) {
    assert.equal(quotedText(text), `"${text}"`);
  }
  const escaped: Readonly<Record<string, string>> = {
    ...{ 'a"b\\c': '"a\\"b\\\\c"', "a\n\tb\r": '"a\\n\\tb\\r"', "1\u00a0000": '"1\\u{a0}000"' },
    ...{ "\u0000\u001b[31m": '"\\u{0}\\u{1b}[31m"', "\u2028": '"\\u{2028}"' },
    ...{ "\u202eabc\u200b": '"\\u{202e}abc\\u{200b}"', "\ud83d": '"\\u{d83d}"' },
  };
  for (const [text, quoted] of Object.entries(escaped)) assert.equal(quotedText(text), quoted);
  assert.equal(quotedText("abcdef", 3), '"abc…" (6 characters)');
  assert.equal(quotedText("🐢🐢", 1), '"🐢…" (4 characters)');
  assert.equal(quotedText("a".repeat(64)), `"${"a".repeat(64)}"`);
  assert.equal(quotedText("a".repeat(200_000)), `"${"a".repeat(64)}…" (200000 characters)`);
});

forAll("quotedText() is one short line of visible characters, whatever the text", [
  fc.string({ unit: "binary", maxLength: 300 }),
], (text) => {
  const quoted = quotedText(text);
  assert.ok(quoted.length <= 64 * 10 + 30, quoted);
  assert.match(quoted, /^"[^\p{C}\p{Zl}\p{Zp}]*"( \(\d+ characters\))?$/u);
  assert.ok(quoted.isWellFormed());
}, 1);

pure("plainLine() leaves plain text, without control sequences", () => {
  assert.equal(plainLine("P90 × 1.2, größer „so“ 日本"), "P90 × 1.2, größer „so“ 日本");
  assert.equal(plainLine("a\nb\r\n  c\td\u2028e\u0085f"), "a b   c d e f");
  assert.equal(plainLine("\x1b[31mred\x1b[0m \u202eback\ud800"), "[31mred [0m  back");
});

pure("cutToBytes() keeps what fits, and cuts the rest between characters", () => {
  const rows: readonly (readonly [text: string, most: number, cut: string])[] = [
    ...[["abc", 3, "abc"], ["abcdef", 5, "ab…"], ["a🐢🐢", 8, "a🐢…"]] as const,
    ...[["a🐢🐢", 9, "a🐢🐢"], ["×".repeat(600), 1024, `${"×".repeat(510)}…`]] as const,
  ];
  for (const [text, most, cut] of rows) assert.equal(cutToBytes(text, most), cut);
});

forAll("cutToBytes() gives at most so many bytes of any text", [
  fc.string({ unit: "binary" }),
  fc.integer({ min: 3, max: 43 }),
], (text, most) => {
  const bytes = (one: string): number => new TextEncoder().encode(one).length;
  const cut = cutToBytes(text, most);
  assert.ok(bytes(cut) <= most);
  if (bytes(text) <= most) assert.equal(cut, text);
  else assert.ok(cut.endsWith("…") && text.startsWith(cut.slice(0, -1)));
});

const CHANGE: AuditedChange = {
  ...{ source: "market", action: "resize", outcome: "accepted" } as const,
  ...{ reason: "Throttled", namespace: "shop", kind: "Pod", name: "web", uid: "u1" },
};

function stage() {
  const lines: string[] = [];
  const state = { at: 0, drops: 0 };
  const log = createAuditLog({
    write: (line) => void lines.push(line),
    clock: { wall: () => 0, monotonic: () => state.at },
    newID: () => `id${lines.length}`,
    onDrop: () => state.drops++,
  });
  return { log, lines, state };
}

pure("createAuditLog() writes a line of JSON as its schema describes it", () => {
  const { log, lines } = stage();
  const request = log.begin();
  request.record({ ...CHANGE, container: "app", message: "é\n".repeat(1000) });
  const [line = ""] = lines;
  assert.match(line, /^[^\n]+\n$/);
  const { message, ...others } = auditLineSchema.strict().parse(JSON.parse(line));
  assert.equal(message?.length, 1000);
  assert.deepEqual(others, {
    ...{ "@timestamp": "1970-01-01T00:00:00.000Z", logger: "audit", severity: "INFO" },
    ...{ auditID: "id0", ...CHANGE, container: "app" },
  });
  assert.equal(request.auditID, "id0");
});

pure("createAuditLog() drops what exceeds its rate, and counts that in the next line", () => {
  const { log, lines, state } = stage();
  for (let index = 0; index < 2003; index++) log.begin().record(CHANGE);
  assert.deepEqual([lines.length, state.drops], [2000, 3]);
  state.at = 5;
  log.begin().record(CHANGE);
  const [count, next, ...rest] = lines.slice(2000).map((line) => JSON.parse(line));
  assert.deepEqual([count.severity, count.dropped, next.severity], ["WARNING", 3, "INFO"]);
  assert.deepEqual(rest, []);
  log.begin().record(CHANGE);
  state.at = 10;
  log.begin().record(CHANGE);
  assert.equal(JSON.parse(lines.at(-2) ?? "").dropped, 1);
});

pure("nearestName() finds a misspelt name, and none where all are far", () => {
  const known = ["burstFactor", "dryRun", "managementPolicy"];
  assert.equal(nearestName("burstfacter", known), "burstFactor");
  assert.equal(nearestName("dry-run", known), "dryRun");
  assert.equal(nearestName("kubeconfig", known), undefined);
  assert.equal(nearestName("", known), undefined);
});

pure("defined() and mapDefined() leave out what is undefined, and nothing else", () => {
  const found = defined({ d: undefined, b: "", a: 0, c: null });
  assert.deepEqual(Object.entries(found), [["b", ""], ["a", 0], ["c", null]]);
  const count = (text: string): number => text.length;
  assert.deepEqual([mapDefined("", count), mapDefined(undefined, count)], [0, undefined]);
});
