import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { silentLog } from "../log.ts";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import { createSupervisor } from "./supervisor.ts";

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) =>
    signal.addEventListener("abort", () => resolve(), { once: true })
  );
}

pure("createSupervisor() aborts all loops on the first failure", async () => {
  const clock = createVirtualClock({ wallStart: 0 });
  const supervisor = createSupervisor({ clock, log: silentLog });
  const boom = new TypeError("boom");
  let ended = false;
  supervisor.supervise("steady", untilAborted(supervisor.signal).then(() => void (ended = true)));
  supervisor.supervise("broken", clock.sleep(10).then(() => Promise.reject(boom)));
  supervisor.supervise(
    "late",
    untilAborted(supervisor.signal).then(() => Promise.reject(new Error("second"))),
  );
  const done = assert.rejects(supervisor.done(), (error: Error) => {
    assert.match(error.message, /"broken" failed: TypeError: boom/);
    assert.equal(error.cause, boom);
    return true;
  });
  await clock.runUntil(20);
  await done;
  assert.ok(ended);
});

pure("createSupervisor() waits on stop for every loop, those added meanwhile too", async () => {
  const clock = createVirtualClock({ wallStart: 0 });
  const supervisor = createSupervisor({ clock, log: silentLog });
  const ended: string[] = [];
  const lasting = (name: string, ms: number) => clock.sleep(ms).then(() => void ended.push(name));
  supervisor.supervise("short", lasting("short", 10));
  supervisor.supervise(
    "parent",
    clock.sleep(20).then(() => supervisor.supervise("child", lasting("child", 30))),
  );
  supervisor.stop();
  const done = supervisor.done();
  await clock.runUntil(100);
  await done;
  assert.deepEqual(ended, ["short", "child"]);
});

pure("createSupervisor() names the loops that do not end within the grace", async () => {
  const clock = createVirtualClock({ wallStart: 0 });
  const supervisor = createSupervisor({ clock, log: silentLog, graceMs: 500 });
  supervisor.supervise("deaf", new Promise(() => {}));
  const done = assert.rejects(supervisor.done(), /still running after 500 ms: deaf/);
  await clock.runUntil(10_000);
  supervisor.stop();
  await clock.runUntil(10_600);
  await done;
});

pure("createSupervisor() is done when every loop ended of its own", async () => {
  const clock = createVirtualClock({ wallStart: 0 });
  const supervisor = createSupervisor({ clock, log: silentLog });
  await supervisor.done();
  supervisor.supervise("once", Promise.resolve());
  await supervisor.done();
  assert.equal(supervisor.signal.aborted, false);
});
