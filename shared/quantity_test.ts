import assert from "node:assert/strict";
import fc from "fast-check";
import { forAll } from "../tests/fixtures/for_all.ts";
import { pure } from "../tests/fixtures/pure.ts";
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

forAll(
  "parseCPU() reads back formatCPU(), parseBytes() formatBytes(), which has no m",
  [fc.nat({ max: MOST }), fc.nat({ max: 2 ** 33 - 1 })],
  (amount, mebi) => {
    assert.equal(parseCPU(formatCPU(amount)), amount);
    for (const bytes of [amount, mebi * 2 ** 20]) {
      assert.equal(parseBytes(formatBytes(bytes)), bytes);
      assert.match(formatBytes(bytes), /^\d+(Mi)?$/);
    }
  },
);

forAll(
  "parseCPU() scales by suffix and exponent, and is the exact ceiling of millionths",
  [fc.nat(9000), fc.nat(5), fc.nat(1_000_000), fc.nat(6), fc.nat({ max: 1e12 })],
  (count, index, digits, places, nanocores) => {
    const [small, large] = ["n", "u", "m", "", "k", "M", "G"].slice(index);
    assert.equal(parseCPU(`${count}${large}`), parseCPU(`${count * 1000}${small}`));
    const text = String(digits).padStart(places + 1, "0");
    const point = text.length - places;
    const moved = parseCPU(`${text.slice(0, point)}.${text.slice(point)}`);
    assert.deepEqual([parseCPU(`${digits}e-${places}`), parseCPU(`${digits}E-${places}`)], [
      moved,
      moved,
    ]);
    assert.equal(parseCPU(`${nanocores}n`), Math.ceil(nanocores / 1_000_000));
  },
);
