import assert from "node:assert/strict";
import { inTurns } from "./in_turns.ts";

Deno.test({
  name: "inTurns() keeps the order of the items and runs no more at once than it may",
  permissions: "none",
  async fn() {
    let running = 0;
    let most = 0;
    const items = Array.from({ length: 30 }, (_, index) => index);
    const results = await inTurns(items, async (item) => {
      most = Math.max(most, ++running);
      for (let turn = 0; turn < 30 - item; turn++) await Promise.resolve();
      running--;
      return item * 2;
    }, { atOnce: 8 });
    assert.deepEqual(results, items.map((item) => item * 2));
    assert.equal(most, 8);
  },
});

Deno.test({
  name: "inTurns() rejects with the first error after the others have settled",
  permissions: "none",
  async fn() {
    const done: number[] = [];
    await assert.rejects(
      inTurns([1, 2, 3], async (item) => {
        await Promise.resolve();
        if (item === 2) throw new RangeError("Cannot do 2: no");
        done.push(item);
        return item;
      }, { atOnce: 3 }),
      /Cannot do 2/,
    );
    assert.deepEqual(done, [1, 3]);
  },
});

Deno.test({
  name: "inTurns() begins nothing new after an error, and refuses to do nothing at a time",
  permissions: "none",
  async fn() {
    const begun: number[] = [];
    const job = (item: number): Promise<number> => {
      begun.push(item);
      return item === 2 ? Promise.reject(new RangeError("Cannot do 2: no")) : Promise.resolve(item);
    };
    await assert.rejects(inTurns([1, 2, 3, 4], job, { atOnce: 1 }), /Cannot do 2/);
    assert.deepEqual(begun, [1, 2]);
    await assert.rejects(inTurns([1], job, { atOnce: 0 }), /atOnce is 0, expected at least 1/);
    assert.deepEqual(await inTurns([], job, { atOnce: 4 }), []);
  },
});
