import assert from "node:assert/strict";
import { sharedPeriod } from "./shared_period.ts";

Deno.test("sharedPeriod() begins when all have joined, and ends when all have left", async () => {
  const order: string[] = [];
  const period = sharedPeriod(2, () => {
    order.push("begin");
    return Promise.resolve({
      [Symbol.asyncDispose]() {
        order.push("end");
        return Promise.resolve();
      },
    });
  });
  const run = async (name: string, turns: number): Promise<void> => {
    for (let turn = 0; turn < turns; turn++) await Promise.resolve();
    order.push(`${name} joins`);
    {
      await using _state = await period.join();
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      order.push(`${name} leaves`);
    }
    order.push(`${name} goes on`);
  };
  await Promise.all([run("one", 1), run("two", 50)]);
  assert.deepEqual(order, [
    ...["one joins", "two joins", "begin", "one leaves", "two leaves", "end"],
    ...["one goes on", "two goes on"],
  ]);
});

Deno.test("sharedPeriod() fails all that have joined when it can't begin", async () => {
  const period = sharedPeriod(2, () => Promise.reject(new Error("no server")));
  for (const outcome of await Promise.allSettled([period.join(), period.join()])) {
    assert.ok(outcome.status === "rejected");
    assert.match(String(outcome.reason), /no server/);
  }
});
