/** An agent that swings a pod between floor and ceiling is slowed down, then stopped. */
import assert from "node:assert/strict";
import { type ControllerScene, sceneTest } from "./controller_scene.ts";
import { optOut, raisedPod } from "./raised_pod.ts";

/** When the pod's limit changed while the agent wanted two limits by turns, ms. */
async function swing(
  scene: ControllerScene,
  { everyMs, forMs }: { readonly everyMs: number; readonly forMs: number },
): Promise<readonly number[]> {
  const changes: number[] = [];
  let before = scene.limits("web").wanted;
  const begunMs = scene.clock.monotonic();
  scene.api.store.onChange(() => {
    const { wanted } = scene.limits("web");
    if (wanted !== before) changes.push(scene.clock.monotonic() - begunMs);
    before = wanted;
  });
  for (let atMs = 0; atMs < forMs; atMs += everyMs) {
    scene.want("web", before === 600 ? 120 : 600);
    await scene.pass(everyMs);
  }
  return changes;
}

sceneTest("runAllocationLoop() leaves a second between two changes of a pod", async (scene) => {
  scene.startController();
  await raisedPod(scene);
  const changes = await swing(scene, { everyMs: 500, forMs: 10_000 });
  const gaps = changes.slice(1).map((atMs, index) => atMs - (changes[index] ?? 0));
  assert.ok(changes.length > 5, `${changes.length} changes`);
  assert.ok(Math.min(...gaps) >= 995, gaps.join());
});

sceneTest("runAllocationLoop() leaves the time between changes that is set", async (scene) => {
  scene.startController({ minResizeIntervalMs: 5000 });
  await raisedPod(scene);
  const changes = await swing(scene, { everyMs: 500, forMs: 20_000 });
  assert.ok(changes.length >= 3 && changes.length <= 4, `${changes.length} changes`);
  // Original limits don't wait.
  scene.want("web", 600);
  await scene.pass(10_000);
  scene.want("web", 120);
  await scene.pass(5500);
  scene.changePod("web", optOut);
  await scene.pass(500);
  assert.equal(scene.limits("web").wanted, 200);
});

sceneTest("runAllocationLoop() holds a pod that oscillates, and says so once", async (scene) => {
  const held: string[] = [];
  scene.startController({}, { observer: { held: (reason) => void held.push(reason) } });
  await raisedPod(scene);
  await scene.pass(300_000);
  const changes = await swing(scene, { everyMs: 2000, forMs: 800_000 });
  // 101, the last of them a raise, then five minutes at the high end, then as many again.
  const [last = 0, next = 0] = changes.slice(100);
  assert.ok(last < 220_000 && next - last >= 299_000, `${last}, ${next}`);
  assert.equal(changes.filter((atMs) => atMs < last + 299_000).length, 101);
  assert.equal(held.filter((reason) => reason === "Oscillating").length, 2);
  const reported = scene.api.events.all().filter(({ message }) =>
    message.startsWith("Oscillating")
  );
  assert.deepEqual(reported.map(({ reason }) => reason), ["CPULimitHeld", "CPULimitHeld"]);
  // Original limits come back all the same.
  scene.changePod("web", optOut);
  await scene.pass(3000);
  assert.equal(scene.limits("web").wanted, 200);
});

sceneTest("runAllocationLoop() moves a limit by the largest step at a time", async (scene) => {
  scene.startController({ maxStep: 1.5 });
  scene.createPod("web");
  scene.want("web", 800);
  await scene.pass(5000);
  const seen: (number | undefined)[] = [];
  scene.api.store.onChange(() => {
    const { wanted } = scene.limits("web");
    if (seen.at(-1) !== wanted) seen.push(wanted);
  });
  await scene.pass(10_000);
  scene.want("web", 200);
  await scene.pass(10_000);
  assert.equal(scene.limits("web").applied, 200);
  for (const [index, limit = 0] of seen.entries()) {
    const before = seen[index - 1] ?? limit;
    assert.ok(limit <= 1.5 * before + 10 && limit >= before / 1.5 - 10, seen.join());
  }
  assert.ok(seen.includes(800), seen.join());
});
