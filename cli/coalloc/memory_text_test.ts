import assert from "node:assert/strict";
import fc from "fast-check";
import { memoryText } from "./memory_text.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

pure("memoryText() has three digits in the largest unit", () => {
  const expected: readonly (readonly [number | undefined, string])[] = [
    [undefined, "-"],
    [0, "0"],
    [512, "512"],
    [1023.7 * 1024, "1Mi"],
    [88_617_123, "84.5Mi"],
    [128 * 2 ** 20, "128Mi"],
    [1000 * 2 ** 20, "1000Mi"],
    [2 ** 30, "1Gi"],
    [1.5 * 2 ** 30, "1.5Gi"],
    [2 ** 53, "8Pi"],
  ];
  for (const [bytes, text] of expected) assert.equal(memoryText(bytes), text, `${bytes}`);
});

pure("memoryText() is at most half a percent off, and short", () => {
  const factors = { "": 0, Ki: 1, Mi: 2, Gi: 3, Ti: 4, Pi: 5 };
  fc.assert(
    fc.property(fc.double({ min: 1, max: 2 ** 53, noNaN: true }), (draw) => {
      const bytes = Math.round(draw);
      const [, digits = "", unit = ""] = /^([\d.]+)(\D*)$/.exec(memoryText(bytes)) ?? [];
      const shown = Number(digits) * 1024 ** factors[unit as keyof typeof factors];
      assert.ok(Math.abs(shown - bytes) <= bytes * 0.005, `${bytes}: ${digits}${unit}`);
      assert.ok(digits.length <= 4);
    }),
  );
});
