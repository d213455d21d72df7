import assert from "node:assert/strict";
import { lockInstance } from "./instance_lock.ts";

Deno.test("lockInstance() lets a second run go on only when the first is through", async () => {
  const stateRoot = await Deno.makeTempDir({ dir: "/tmp" });
  const instance = { stateRoot, name: "trial" };
  const progress = { say: () => {}, now: () => 0 };
  const order: string[] = [];
  try {
    const first = await lockInstance(instance, { progress });
    const second = lockInstance(instance, { progress }).then((lock) => {
      order.push("second: taken");
      return lock;
    });
    // Another instance is not held up, and its answer comes after the second's would.
    const other = await lockInstance({ stateRoot, name: "other" }, { progress });
    order.push("first: returned");
    first[Symbol.dispose]();
    const held = await second;
    await held.remove();
    held[Symbol.dispose]();
    other[Symbol.dispose]();
    assert.deepEqual(order, ["first: returned", "second: taken"]);
    assert.deepEqual((await Array.fromAsync(Deno.readDir(stateRoot))).map(({ name }) => name), [
      "other.lock",
    ]);
  } finally {
    await Deno.remove(stateRoot, { recursive: true });
  }
});
