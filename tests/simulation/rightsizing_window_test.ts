/** Windows that hold hardly more samples than a policy asks for. */
import assert from "node:assert/strict";
import { MI } from "../fixtures/rightsizing/rightsizing_facts.ts";
import { NAMESPACE, type RightsizingScene } from "../fixtures/rightsizing/rightsizing_scene.ts";
import { sceneTest as test } from "../fixtures/lab/scene_test_case.ts";

const MINUTE_MS = 60_000;

/** A reading each 30 s, some seconds later than that, as metrics-server's own times have it. */
function readEvery30s({ source, clock }: RightsizingScene, hours: number): void {
  const { cpu, memory } = source.of(
    { namespace: NAMESPACE, kind: "Deployment", name: "web" },
    "app",
  );
  const from = clock.wall();
  for (let at = -20; at < hours * 120; at++) {
    const lateMs = 1000 * ((at + 20) * 7 % 23);
    cpu.push([from + 30_000 * at + lateMs, 150]);
    memory.push([from + 30_000 * at + lateMs, 80 * MI]);
  }
}

test("runRightsizingLoop() keeps a status where a window holds one sample less at every second look", async (scene) => {
  scene.deployment("web");
  readEvery30s(scene, 2);
  scene.policy("all", {
    provider: "metrics-server",
    windowMs: 5 * MINUTE_MS,
    minSamples: 10,
    intervalMs: MINUTE_MS,
  });
  await scene.run(10 * MINUTE_MS);
  assert.equal(scene.recordOf("web")?.status, "Applied");
  // The policy says that they do not fit, once.
  const warned = scene.events.filter(({ type }) => type === "Warning");
  assert.deepEqual(warned.map(({ about, reason }) => [about.kind, reason]), [
    ["OptimizationPolicy", "MetricsCollectionFailed"],
  ]);
  const [ready] = scene.statusOf("all").conditions ?? [];
  assert.equal(ready?.reason, "PolicyValid");
  assert.match(ready.message, /rollingWindow of 5m .* 8 .* 30s, .*minSamples is 10/);
  const before = scene.events.length;
  const seen: string[] = [];
  for (let look = 0; look < 60; look++) {
    await scene.run(MINUTE_MS);
    const { status, reason } = scene.recordOf("web") ?? {};
    seen.push(`${status} ${reason}`);
  }
  assert.deepEqual([...new Set(seen)], ["Applied BelowThreshold"]);
  assert.equal(scene.events.length - before, 0);
  // Where they stay away, that is reported.
  await scene.run(120 * MINUTE_MS);
  assert.equal(scene.recordOf("web")?.reason, "InsufficientSamples");
});
