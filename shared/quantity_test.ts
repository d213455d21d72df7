import { pure } from "../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { forAll } from "../tests/fixtures/for_all.ts";
import fc from "fast-check";
import { cases } from "../tests/fixtures/cases.ts";
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

const decimalSuffixes = ["n", "u", "m", "", "k", "M", "G"] as const;

pure("parseCPU() reads every form that Kubernetes accepts", () => {
  const forms: Readonly<Record<string, number>> = {
    "0": 0,
    "1": 1000,
    "250m": 250,
    "0.1": 100,
    "1.": 1000,
    ".5": 500,
    "+2": 2000,
    "007": 7000,
    "1500000n": 2,
    "1500000u": 1500,
    "2k": 2_000_000,
    "3M": 3_000_000_000,
    "4G": 4_000_000_000_000,
    "0.001T": 1_000_000_000_000,
    "0.000001P": 1_000_000_000_000,
    "0.000000001E": 1_000_000_000_000,
    "1Ki": 1_024_000,
    "1.5Ki": 1_536_000,
    "1Mi": 1_048_576_000,
    "1Gi": 1_073_741_824_000,
    "0.001Ti": 1_099_511_627_776,
    "0.000001Pi": 1_125_899_906_843,
    "0.000000001Ei": 1_152_921_504_607,
    "1e3": 1_000_000,
    "1E-1": 100,
    "12e+1": 120_000,
    "5E0": 5000,
  };
  for (const [text, millicores] of Object.entries(forms)) {
    assert.equal(parseCPU(text), millicores, text);
  }
});

pure("parseCPU() rounds fractions of a millicore up, and nothing else", () => {
  for (const text of ["1n", "0.1m", "0.0000000000001", "1e-4000", "1e-99999999999999999999"]) {
    assert.equal(parseCPU(text), 1, text);
  }
  assert.equal(parseCPU("100.1m"), 101);
  assert.equal(parseCPU("0.30000000000000004"), 301);
  assert.equal(parseCPU("0.3"), 300);
  assert.equal(parseCPU("0e9999999999"), 0);
});

pure("parseCPU() refuses what Kubernetes refuses, naming the text", () => {
  const texts = ["", ".", "+", "m", "1 ", " 1", "1 m", "1.2.3", "1e", "1e1.5", "1ki", "1K", "1i"];
  const more = ["1mi", "1am", "e3", "0x10", "1,5", "NaN", "Infinity", "1e3m", "1m1", "--1", "１"];
  for (const text of [...texts, ...more]) {
    assert.throws(() => parseCPU(text), (error) => {
      return error instanceof SyntaxError && error.message.includes(`"${text}"`);
    }, text);
  }
});

pure("parseCPU() refuses negative quantities, naming the text", () => {
  for (const text of ["-1", "-250m", "-1e3"]) {
    assert.throws(() => parseCPU(text), {
      name: "SyntaxError",
      message: new RegExp(`CPU.*"${text}".*negative`),
    });
  }
});

pure("parseCPU() refuses more millicores than a number holds exactly", () => {
  for (const text of ["9007199254740991m", "9007199254740990.1m"]) {
    assert.equal(parseCPU(text), Number.MAX_SAFE_INTEGER);
  }
  for (const text of ["9007199254740992m", "9007199254740991.1m", "1E", "1Ei", "1e999999999"]) {
    assert.throws(() => parseCPU(text), { name: "SyntaxError", message: /more than/ });
  }
});

pure("parseCPU() does not parse text of absurd length", () => {
  const zeros = "0".repeat(998);
  assert.equal(parseCPU(`1.${zeros}`), 1000);
  assert.throws(() => parseCPU(`1.${zeros}0`), {
    name: "SyntaxError",
    message: /^Cannot parse CPU quantity: "1\.0{62}…" \(1001 characters\) is not/,
  });
});

pure(
  "parseCPUBound() takes what is beyond all numbers for the largest, and refuses the rest",
  () => {
    for (const text of ["9007199254740992m", "1E", "9223372036854775807", "1e999999999"]) {
      assert.equal(parseCPUBound(text), Number.MAX_SAFE_INTEGER);
    }
    assert.equal(parseCPUBound("250m"), 250);
    for (const text of ["-1", "-1E", "two", ""]) {
      assert.throws(
        () => parseCPUBound(text),
        SyntaxError,
      );
    }
  },
);

pure(
  "parseBytesBound() takes what is beyond all numbers for the largest, and refuses the rest",
  () => {
    for (const text of ["9007199254740992", "8Ei", "9223372036854775807"]) {
      assert.equal(parseBytesBound(text), Number.MAX_SAFE_INTEGER);
    }
    assert.equal(parseBytesBound("64Mi"), 64 * 2 ** 20);
    for (const text of ["-1", "much", ""]) assert.throws(() => parseBytesBound(text), SyntaxError);
  },
);

pure("sumCPU() is exact, or the largest number that can be counted", () => {
  assert.equal(sumCPU([]), 0);
  assert.equal(sumCPU([200, 50]), 250);
  assert.equal(formatCPU(sumCPU([2 ** 52, 2 ** 52, 7])), "9007199254740991m");
});

forAll(
  "parseCPU() reads back what formatCPU() writes",
  [fc.nat({ max: Number.MAX_SAFE_INTEGER })],
  (millicores) => {
    assert.equal(parseCPU(formatCPU(millicores)), millicores);
  },
);

pure("parseCPU() scales by a thousand from each decimal suffix to the next", () => {
  const pairs = fc.nat(decimalSuffixes.length - 2);
  fc.assert(
    fc.property(fc.nat(9_000), pairs, (count, index) => {
      const larger = parseCPU(`${count}${decimalSuffixes[index + 1] as string}`);
      const smaller = parseCPU(`${count * 1000}${decimalSuffixes[index] as string}`);
      assert.equal(larger, smaller);
    }),
    cases(5),
  );
});

forAll("parseCPU() reads an exponent as it reads the moved point", [
  fc.nat(1_000_000),
  fc.integer({ min: 0, max: 6 }),
], (digits, places) => {
  const text = String(digits).padStart(places + 1, "0");
  const point = text.length - places;
  const moved = `${text.slice(0, point)}.${text.slice(point)}`;
  assert.equal(parseCPU(`${digits}e-${places}`), parseCPU(moved));
  assert.equal(parseCPU(`${digits}E-${places}`), parseCPU(moved));
});

forAll("parseCPU() is the exact ceiling of millionths", [fc.nat({ max: 1e12 })], (nanocores) => {
  assert.equal(parseCPU(`${nanocores}n`), Math.ceil(nanocores / 1_000_000));
});

pure("parseCPU() adds up: the parts of a sum round up to at most one more each", () => {
  const fraction = fc.nat(1_000_000_000);
  fc.assert(
    fc.property(fraction, fraction, (a, b) => {
      const [whole, parts] = [parseCPU(`${a + b}u`), parseCPU(`${a}u`) + parseCPU(`${b}u`)];
      assert.ok(whole <= parts && parts <= whole + 1);
    }),
    cases(5),
  );
});

pure("formatCPU() writes whole CPUs without a suffix", () => {
  assert.equal(formatCPU(0), "0");
  assert.equal(formatCPU(250), "250m");
  assert.equal(formatCPU(1000), "1");
  assert.equal(formatCPU(2500), "2500m");
});

pure("formatCPU() refuses what is no whole number of millicores", () => {
  for (const millicores of [-1, 0.5, NaN, Infinity, 1e21]) {
    assert.throws(() => formatCPU(millicores), {
      name: "RangeError",
      message: new RegExp(String(millicores).replace("+", "\\+")),
    });
  }
});

pure("formatBytes() writes whole mebibytes as such, and bytes for all else", () => {
  const forms: Readonly<Record<string, number>> = {
    "0": 0,
    "1": 1,
    "1048575": 2 ** 20 - 1,
    "1Mi": 2 ** 20,
    "100Mi": 104_857_600,
    "2048Mi": 2 ** 31,
    "73847603": 73_847_603,
    "88617123": 88_617_123,
  };
  for (const [text, bytes] of Object.entries(forms)) assert.equal(formatBytes(bytes), text);
});

pure("formatBytes() is read back by parseBytes() exactly, and has no m", () => {
  const bytes = fc.oneof(
    fc.nat({ max: Number.MAX_SAFE_INTEGER }),
    fc.nat({ max: 2 ** 33 - 1 }).map((mebi) => mebi * 2 ** 20),
  );
  fc.assert(
    fc.property(bytes, (drawn) => {
      const text = formatBytes(drawn);
      assert.equal(parseBytes(text), drawn);
      assert.match(text, /^\d+(Mi)?$/);
    }),
    cases(5),
  );
});

pure("formatBytes() refuses what is no whole number of bytes", () => {
  for (const bytes of [-1, 0.5, NaN, Infinity, 2 ** 53]) {
    assert.throws(() => formatBytes(bytes), {
      name: "RangeError",
      message: new RegExp(`memory.* ${bytes} `),
    });
  }
});

pure("parseNanoCPU() keeps what is below a millicore", () => {
  const forms = { "1n": 1, "123456n": 123_456, "1500u": 1_500_000, "2m": 2_000_000, "0.5": 5e8 };
  for (const [text, nanocores] of Object.entries(forms)) {
    assert.equal(parseNanoCPU(text), nanocores, text);
  }
  assert.throws(() => parseNanoCPU("-1"), SyntaxError);
  assert.throws(() => parseNanoCPU("10M"), SyntaxError, "beyond 2^53 nanocores");
});
