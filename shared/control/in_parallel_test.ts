import assert from "node:assert/strict";
import { pure } from "../../tests/fixtures/pure.ts";
import { inParallel } from "./in_parallel.ts";

pure("inParallel() keeps the order of the items and runs at most 8 at once", async () => {
  let running = 0;
  let most = 0;
  const items = Array.from({ length: 30 }, (_, index) => index);
  const results = await inParallel(items, async (item) => {
    most = Math.max(most, ++running);
    for (let turn = 0; turn < 30 - item; turn++) await Promise.resolve();
    running--;
    return item * 2;
  });
  assert.deepEqual(results, items.map((item) => item * 2));
  assert.equal(most, 8);
});

pure("inParallel() rejects with the first error after the others have settled", async () => {
  const done: number[] = [];
  await assert.rejects(
    inParallel([1, 2, 3], async (item) => {
      await Promise.resolve();
      if (item === 2) throw new RangeError("Cannot do 2: no");
      done.push(item);
      return item;
    }),
    /Cannot do 2/,
  );
  assert.deepEqual(done, [1, 3]);
});
