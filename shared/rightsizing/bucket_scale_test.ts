import assert from "node:assert/strict";
import fc from "fast-check";
import { BUCKET_SCALES, bucketOf, bucketValue, RELATIVE_ERROR } from "./bucket_scale.ts";

const { cpu, memory } = BUCKET_SCALES;

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const cpuValue = fc.double({ min: 1, max: 2 ** 20, noNaN: true });
const memoryValue = fc.integer({ min: 2 ** 20, max: 2 ** 44 });

pure("bucketValue() of bucketOf() is within the relative error, of both resources", () => {
  fc.assert(
    fc.property(cpuValue, memoryValue, (millicores, bytes) => {
      for (const [value, scale] of [[millicores, cpu], [bytes, memory]] as const) {
        const found = bucketValue(bucketOf(value, scale), scale);
        assert.ok(
          Math.abs(found - value) <= RELATIVE_ERROR * value * (1 + 1e-9),
          `${found} for ${value}`,
        );
      }
    }),
  );
});

pure("bucketOf() takes what is below the least for nothing, zero too", () => {
  assert.equal(bucketOf(0, cpu), -1);
  assert.equal(bucketOf(0.999, cpu), -1);
  assert.equal(bucketOf(1, cpu), 0);
  assert.equal(bucketOf(2 ** 20 - 1, memory), -1);
  assert.equal(bucketOf(2 ** 20, memory), 0);
  assert.equal(bucketValue(-1, memory), 0);
});

pure("bucketOf() needs all buckets for its range, and keeps what is beyond in the last", () => {
  assert.equal(bucketOf(2 ** 20, cpu), cpu.buckets - 1);
  assert.equal(bucketOf(2 ** 44, memory), memory.buckets - 1);
  assert.equal(bucketOf(1e300, cpu), cpu.buckets - 1);
  assert.equal(bucketOf(1e300, memory), memory.buckets - 1);
});

pure("bucketOf() never falls as the value grows", () => {
  fc.assert(
    fc.property(cpuValue, cpuValue, (a, b) => {
      assert.ok(bucketOf(Math.min(a, b), cpu) <= bucketOf(Math.max(a, b), cpu));
    }),
  );
});
