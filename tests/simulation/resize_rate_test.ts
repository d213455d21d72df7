/** More resizes are wanted than the rate lets through, or than the server takes. */
import assert from "node:assert/strict";
import type { AllocationObserver } from "../../controller/allocation/ports.ts";
import { MANAGED } from "../../shared/api/market_keys.ts";
import { type ControllerScene, sceneTest } from "./controller_scene.ts";

const DAY_MS = 86_400_000;

type SeenQueue = Parameters<NonNullable<AllocationObserver["resizeQueue"]>>[0];

/** Pods that stand in the market with 600 m each. */
async function raisedPods(scene: ControllerScene, names: readonly string[]): Promise<void> {
  const kill = scene.startController();
  for (const name of names) scene.createPod(name);
  for (const name of names) scene.want(name, 600);
  await scene.pass(20_000);
  for (const name of names) assert.equal(scene.limits(name).applied, 600);
  kill();
}

sceneTest(
  "runAllocationLoop() raises throttled pods first, and puts small decreases off, where the rate binds",
  async (scene) => {
    const names = (kind: string, count: number): readonly string[] =>
      Array.from({ length: count }, (_, index) => `${kind}-${index}`);
    const [small, large, rose, throttled] = [
      names("a-small", 14),
      names("b-large", 4),
      names("c-rose", 14),
      names("d-throttled", 5),
    ];
    await raisedPods(scene, [...small, ...large, ...rose, ...throttled]);
    for (const name of small) scene.want(name, 550, "DemandFell");
    for (const name of large) scene.want(name, 300, "DemandFell");
    for (const name of rose) scene.want(name, 700, "DemandRose");
    for (const name of throttled) scene.want(name, 800, "Throttled");
    await scene.pass(2000);
    const seen: SeenQueue[] = [];
    const order: string[] = [];
    const pods = scene.api.store.tables.Pod;
    const limits = new Map<string, number | undefined>();
    const note = (): void => {
      for (const { metadata: { name }, containers: [app] } of pods.all()) {
        if (limits.get(name) !== app?.limits.cpu) order.push(name);
        limits.set(name, app?.limits.cpu);
      }
    };
    note();
    order.length = 0;
    scene.api.store.onChange(note);
    scene.startController({ maxResizesPerSecond: 1 }, {
      observer: {
        resizeQueue: ({ waiting, dropped, isBottleneck }) =>
          void seen.push({ waiting, dropped, isBottleneck }),
      },
    });
    await scene.pass(15_000);
    // The first was sent when no other had been looked at.
    assert.deepEqual(order.slice(1, 6).toSorted(), throttled.toSorted());
    assert.ok(order.slice(6).every((name) => rose.includes(name)), order.join(" "));
    const middle = seen.at(-1);
    assert.ok(middle?.isBottleneck === true && middle.waiting <= 36, JSON.stringify(middle));
    assert.ok(middle.dropped > 0);
    const events = scene.api.events.all().filter(({ message }) => message.includes("RateLimited"));
    const shared = events.filter(({ about }) => about?.kind === "Namespace");
    assert.equal(shared.length, 1);
    assert.match(shared[0]?.message ?? "", /^RateLimited: \d+ resizes wait, /);
    await scene.pass(200_000);
    for (const name of small) assert.equal(scene.limits(name).applied, 550);
    for (const name of large) assert.equal(scene.limits(name).applied, 300);
    assert.equal(seen.at(-1)?.isBottleneck, false);
  },
);

sceneTest(
  "runAllocationLoop() gives original limits back though the server puts resizes off for a day",
  async (scene) => {
    scene.startController();
    for (const name of ["web", "db"]) scene.createPod(name);
    for (const name of ["web", "db"]) scene.want(name, 300);
    await scene.pass(10_000);
    const putOff = { verb: "resize", kind: "Pod", status: 503, retryAfterMs: DAY_MS } as const;
    scene.api.failNext({ ...putOff, times: 3 });
    scene.want("web", 400);
    await scene.pass(2000);
    scene.changePod("web", ({ metadata, ...pod }) => ({
      ...pod,
      metadata: { ...metadata, labels: { ...metadata.labels, [MANAGED]: "false" } },
    }));
    // Its own back-off, for two refusals.
    await scene.pass(12_000);
    assert.deepEqual(scene.limits("web"), { wanted: 200, applied: 200 });
    scene.want("db", 400);
    await scene.pass(60_000);
    assert.deepEqual(scene.limits("db"), { wanted: 400, applied: 400 });
  },
);
