import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { createPermits } from "./permits.ts";

pure("createPermits() lets as many run as there may be, the longest waiting first", async () => {
  let most = 2;
  const permits = createPermits(() => most);
  const begun: number[] = [];
  const ends = Array.from({ length: 5 }, () => Promise.withResolvers<void>());
  const runs = ends.map((end, index) =>
    permits.run(async () => {
      begun.push(index);
      await end.promise;
      return index;
    })
  );
  assert.deepEqual(begun, []);
  await Promise.resolve();
  assert.deepEqual(begun, [0, 1]);
  most = 3;
  ends[0]?.resolve();
  assert.equal(await runs[0], 0);
  await new Promise((resolve) => queueMicrotask(() => resolve(undefined)));
  assert.deepEqual(begun, [0, 1, 2, 3]);
  for (const end of ends) end.resolve();
  assert.deepEqual(await Promise.all(runs), [0, 1, 2, 3, 4]);
});

pure("createPermits() frees the place of a job that fails, and never stops for good", async () => {
  const permits = createPermits(() => 0);
  await assert.rejects(permits.run(() => Promise.reject(new SyntaxError("no"))), SyntaxError);
  assert.equal(await permits.run(() => Promise.resolve(7)), 7);
});
