/** The original limits survive whatever happens to their record, and to the controller's copies. */
import assert from "node:assert/strict";
import { ApiError } from "../../shared/api/api_error.ts";
import type { ApiObject } from "../../shared/api/object.ts";
import type { ListWatch, ObjectList } from "../../shared/control/informer.ts";
import { settleVirtually } from "../contract/support/settle_virtually.ts";
import { type ControllerScene, loopTest } from "./controller_scene.ts";

function removeRecord({ pod, tables }: ControllerScene): void {
  tables.PodAllocation.remove(`shop/${pod().metadata.uid}`);
}

/** The pod leaves the market, and returns by another controller. */
async function outAndIn(scene: ControllerScene): Promise<void> {
  scene.setManaged("false");
  await scene.pass(10_000);
  assert.equal(scene.allocation(), undefined, "restored, and the record removed");
  await scene.restartController();
  await scene.pass(5000);
  scene.setManaged("true");
  await scene.pass(90_000);
}

loopTest("takes another writer's limit for the original limit", async (scene) => {
  scene.startController();
  await scene.raise();
  await scene.setByHand(500);
  await scene.pass(10_000);
  assert.deepEqual([scene.originalLimit(), scene.bound().ceiling], ["500m", 3600]);
  // The market goes on from there.
  scene.assertLimit(300);
  scene.setManaged("false");
  await scene.pass(10_000);
  scene.assertLimit(500);
});

const TEMPLATE = new Map([["app", 200]]);

/** How a record is lost; with a template, or what the pod itself says, the loop finds it again. */
const LOST: Readonly<Record<string, (scene: ControllerScene) => void>> = {
  "the allocation": removeRecord,
  "the allocation's status": ({ pod, tables }) =>
    void tables.PodAllocation.modify(`shop/${pod().metadata.uid}`, (allocation) => ({
      ...allocation,
      status: { phase: "Pending" },
    })),
};

for (const [lost, lose] of Object.entries(LOST)) {
  for (const source of ["the template", "the pod"]) {
    loopTest(`restores by ${source} when ${lost} is lost while the pod leaves`, async (scene) => {
      if (source === "the template") scene.templates.set("web", TEMPLATE);
      const kill = scene.startController();
      await scene.raise();
      kill();
      await scene.pass(1000);
      lose(scene);
      scene.setManaged("false");
      scene.startController();
      await scene.pass(20_000);
      scene.assertLimit(200);
      assert.equal(scene.allocation(), undefined);
    });
  }
}

loopTest("records originals after a crash behind the create, once", async (scene) => {
  scene.want("web", 300);
  const kill = scene.startController();
  // The create is done but neither its answer nor a first status write succeeds.
  scene.api.failNext({ verb: "create", kind: "PodAllocation", status: 0, done: true });
  scene.api.failNext({ verb: "updateStatus", kind: "PodAllocation", status: 0, times: 1 });
  scene.createPod("web");
  await scene.pass(1500);
  kill();
  await scene.pass(2000);
  assert.ok(scene.allocation(), "the allocation was created");
  assert.equal(scene.allocation()?.status, undefined);
  scene.startController();
  await scene.pass(10_000);
  assert.equal(scene.originalLimit(), "200m");
  scene.assertLimit(300);
  await scene.restartController();
  await scene.pass(10_000);
  assert.deepEqual([scene.originalLimit(), scene.count("resize Pod")], ["200m", 1]);
});

for (const template of [undefined, TEMPLATE]) {
  const which = template === undefined ? "a bare pod" : "a pod of a workload";
  loopTest(`takes ${which} that it restored back after a restart`, async (scene) => {
    if (template !== undefined) scene.templates.set("web", template);
    scene.startController();
    await scene.raise();
    await outAndIn(scene);
    scene.assertLimit(300);
    assert.deepEqual(scene.pod().containers[0]?.limitManagers, ["mbcas/200m"]);
    assert.equal(scene.originalLimit(), "200m");
  });
}

loopTest("overwrites no limit that it has not seen", async (scene) => {
  scene.startController();
  await scene.raise();
  const { uid } = scene.pod().metadata;
  // The agent's request and another client's limit cross on their way, the latter later by 0 to 19 ms.
  for (let laterMs = 0; laterMs < 20; laterMs++) {
    const limit = 310 + 10 * (laterMs % 2);
    const cpuLimit = `${limit}m`;
    scene.want("web", limit);
    const clearedAt = new Date(scene.clock.wall()).toISOString();
    scene.tables.PodAllocation.modify(`shop/${uid}`, ({ spec, ...allocation }) => ({
      ...allocation,
      spec: {
        ...spec,
        ...{ desiredCPULimit: cpuLimit, containers: [{ name: "app", cpuLimit }] },
        ...(spec.market === undefined ? {} : { market: { ...spec.market, clearedAt } }),
      },
    }));
    await scene.pass(laterMs);
    const theirs = 500 + laterMs;
    scene.changePod("web", (pod) => ({
      ...pod,
      containers: pod.containers.map((app) => ({
        ...app,
        limits: { ...app.limits, cpu: theirs },
        limitManagers: ["kubectl-patch"],
      })),
    }));
    // Less often than what counts as oscillating.
    await scene.pass(40_000);
    assert.deepEqual([scene.originalLimit(), scene.limits().applied], [`${theirs}m`, limit]);
  }
});

/**
 * A copy that stands still without a sign of it, as behind an API server with a watch cache that has
 * fallen behind: frozen, its list is the last one, and no event arrives; when it thaws, it learns that it
 * is too old, and lists again.
 */
function freezable<T extends ApiObject>(server: ListWatch<T>): {
  readonly source: ListWatch<T>;
  readonly freeze: () => void;
  readonly thaw: () => void;
} {
  let frozen = false;
  let last: ObjectList<T> | undefined;
  let thawed = Promise.withResolvers<void>();
  return {
    source: {
      async list(signal) {
        if (!frozen || last === undefined) last = await server.list(signal);
        return last;
      },
      async *watch(version, signal) {
        if (!frozen) {
          for await (const event of server.watch(version, signal)) {
            if (frozen) break;
            yield event;
          }
        }
        const aborted = Promise.withResolvers<void>();
        signal.addEventListener("abort", () => aborted.resolve(), { once: true });
        if (frozen && !signal.aborted) await Promise.race([thawed.promise, aborted.promise]);
        if (!signal.aborted) throw new ApiError(410, "Expired", "too old resource version");
      },
    },
    freeze() {
      frozen = true;
      thawed = Promise.withResolvers();
    },
    thaw() {
      frozen = false;
      thawed.resolve();
    },
  };
}

for (const [hand, template] of [[undefined, undefined], [500, TEMPLATE]] as const) {
  loopTest(
    `knows the limit ${hand ?? 200} of a pod that it raised on a stale record`,
    async (scene) => {
      if (template !== undefined) scene.templates.set("web", template);
      const copy = freezable(scene.api.listWatch("PodAllocation"));
      scene.startController({}, { sources: { allocations: copy.source } });
      await scene.raise();
      if (hand !== undefined) {
        await scene.setByHand(hand);
        await scene.pass(10_000);
      }
      // The agent must have renewed its lease twice, or its requests do not count after a restore.
      await scene.pass(130_000);
      copy.freeze();
      scene.setManaged("false");
      await scene.pass(10_000);
      assert.equal(scene.allocation(), undefined, "restored, and the record removed");
      scene.setManaged("true");
      await scene.pass(10_000);
      copy.thaw();
      await scene.pass(60_000);
      scene.setManaged("false");
      await scene.pass(20_000);
      assert.equal(scene.limits().wanted, hand ?? 200);
    },
  );
}

loopTest("undoes a patch of a dead leader that arrives after the restore", async (scene) => {
  const sent = Promise.withResolvers<void>();
  const arrives = Promise.withResolvers<void>();
  const resizer = scene.api.podResizer();
  const kill = scene.startController({}, {
    resizer: {
      async resize(...request) {
        sent.resolve();
        await arrives.promise;
        return await resizer.resize(...request);
      },
    },
  });
  scene.createPod("web");
  await scene.wantFor(10_000, 300);
  await settleVirtually(scene.clock, sent.promise);
  kill();
  scene.setManaged("false", "namespace");
  scene.startController();
  await scene.pass(10_000);
  assert.equal(scene.allocation(), undefined);
  arrives.resolve();
  await scene.pass(1);
  await scene.pass(60_000);
  assert.equal(scene.limits().wanted, 200);
  assert.equal(scene.allocation(), undefined);
});
