import assert from "node:assert/strict";
import fc from "fast-check";
import { createBitReader, createBitWriter } from "./bit_text.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const entry = fc.oneof(
  fc.integer({ min: 1, max: 53 }).chain((bits) =>
    fc.record({
      kind: fc.constant("fixed" as const),
      bits: fc.constant(bits),
      value: fc.maxSafeNat().map((drawn) => drawn % 2 ** bits),
    })
  ),
  fc.record({
    kind: fc.constantFrom("small" as const, "sized" as const),
    bits: fc.constant(0),
    value: fc.oneof(
      fc.nat({ max: 10 }),
      fc.nat({ max: 2 ** 40 }),
      fc.constant(Number.MAX_SAFE_INTEGER - 1),
    ),
  }),
);

pure(
  "createBitReader() takes the numbers that createBitWriter() wrote, and knows where they end",
  () => {
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 60 }), (entries) => {
        const writer = createBitWriter();
        for (const { kind, bits, value } of entries) {
          if (kind === "fixed") writer.fixed(value, bits);
          else writer[kind](value);
        }
        const text = writer.text();
        assert.match(text, /^[\w-]*$/);
        const reader = createBitReader(text);
        for (const { kind, bits, value } of entries) {
          assert.equal(kind === "fixed" ? reader.fixed(bits) : reader[kind](), value);
        }
        reader.end();
        if (text.length > 0) assert.throws(() => createBitReader(`${text}A`).end(), SyntaxError);
      }),
    );
  },
);

pure("createBitWriter() takes one bit for a small 0, three for 1 and 2, five for 3 to 6", () => {
  const length = (value: number, times: number): number => {
    const writer = createBitWriter();
    for (let i = 0; i < times; i++) writer.small(value);
    return writer.text().length;
  };
  assert.equal(length(0, 60), 10);
  for (const value of [1, 2]) assert.equal(length(value, 60), 30);
  for (const value of [3, 6]) assert.equal(length(value, 60), 50);
});

pure("createBitReader() refuses other characters, numbers of no end, and what goes on", () => {
  assert.throws(() => createBitReader("A*").fixed(12), /^SyntaxError: .*character 1 of 2/);
  assert.throws(() => createBitReader("").fixed(1), /character 0 of 0/);
  assert.throws(() => createBitReader("A".repeat(20)).small(), /53 bits/);
  assert.throws(() => createBitReader("____").sized(), /53 bits/);
  assert.throws(() => createBitReader("AA").end(), /follows/);
  const reader = createBitReader("B");
  reader.fixed(5);
  assert.throws(() => reader.end(), /follows/);
});

pure("createBitWriter() refuses what is no whole number of its range", () => {
  for (const wrong of [-1, 0.5, NaN, Infinity, 2 ** 53]) {
    assert.throws(() => createBitWriter().sized(wrong), {
      name: "RangeError",
      message: new RegExp(`: ${wrong} `),
    });
  }
  assert.throws(() => createBitWriter().small(-2), RangeError);
});
