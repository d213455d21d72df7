import assert from "node:assert/strict";
import { interruptible } from "./interruptible.ts";
import { run } from "../shell.ts";

Deno.test("interruptible() lets an action that a signal breaks off tidy up, then throws", async () => {
  const done: string[] = [];
  const outcome = interruptible(async (signal) => {
    try {
      // The shell's parent is this process; what it runs next ends by SIGINT alone.
      await run(["sh", "-c", "kill -TERM $PPID; exec tail -f /dev/null"], { signal });
    } finally {
      done.push("tidied up");
    }
  });
  await assert.rejects(outcome, /Cannot go on: SIGTERM came/);
  assert.deepEqual(done, ["tidied up"]);
});

Deno.test("interruptible() hands on what the action gives or throws", async () => {
  assert.equal(await interruptible(() => Promise.resolve(5)), 5);
  await assert.rejects(interruptible(() => Promise.reject(new Error("own"))), /^Error: own$/);
});
