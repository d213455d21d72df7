import fc from "fast-check";
import assert from "node:assert/strict";
import type { ObjectStore } from "../../lab/simulation/api/object_store.ts";
import { createSimulatedAPI } from "../../lab/simulation/api/simulated_api.ts";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import type { LimitRangeItem } from "../../shared/api/namespace.ts";
import type { ApiObject } from "../../shared/api/object.ts";
import { NO_RESOURCES, type Pod, type PodContainer } from "../../shared/api/pod.ts";
import type { ListWatch, ObjectList } from "../../shared/control/informer.ts";
import { defined } from "../../shared/defined.ts";
import { seededRandom } from "../../shared/random.ts";
import { resourceRangesOf } from "../../shared/resize/checks/limit_range.ts";
import { qosClassOfPod } from "../../shared/resize/inputs/qos.ts";
import { resizePatch } from "../../shared/resize/patch.ts";
import { settleVirtually } from "../contract/support/settle_virtually.ts";
import { type ContainerFields, withFields } from "../fixtures/container_fields.ts";
import {
  decideClaim,
  enforcedContainer,
  enforcedPod,
  marketClaim,
} from "../fixtures/market/decide_claim.ts";
import { pure } from "../fixtures/pure.ts";
import { type ControllerScene, loopTest } from "./controller_scene.ts";
import { checkLimitRanges, resizePod, writeDefaults } from "../../lab/simulation/api/admission.ts";

/** The original limits survive whatever happens to their record, and to the controller's copies. */

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

const metadata = { name: "late", namespace: "shop", uid: "", resourceVersion: "" };
const MEMORY = { requests: { memory: 2 ** 20 }, limits: { memory: 2 ** 21 } };

const millicores = fc.integer({ min: 1, max: 60 }).map((steps) => steps * 10);
const maybe = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined, freq: 3 });

/** A sibling or init container; any of its values may be missing. */
const others: fc.Arbitrary<ContainerFields> = fc.record({
  request: maybe(millicores),
  more: maybe(millicores),
  memory: fc.constantFrom(NO_RESOURCES, MEMORY, MEMORY, MEMORY),
}).map(({ request, more, memory }) => {
  const limit = more === undefined ? {} : { cpu: (request ?? 0) + more };
  return {
    requests: { ...memory.requests, ...(request === undefined ? {} : { cpu: request }) },
    limits: { ...memory.limits, ...limit },
    applied: { requests: {}, limits: limit },
  };
});

const pods: fc.Arbitrary<Pod> = fc.record({
  siblings: fc.array(fc.tuple(others, fc.boolean()), { maxLength: 2 }),
  inits: fc.array(fc.tuple(others, fc.nat({ max: 2 })), { maxLength: 2 }),
  app: fc.tuple(millicores, millicores),
  podLevel: fc.option(
    fc.tuple(millicores, millicores).map(([requestCPU, more]) => ({
      requests: { cpu: requestCPU },
      limits: { cpu: requestCPU + more },
    })),
    { nil: undefined, freq: 5 },
  ),
}).map(({ siblings, inits, app: [request, more], podLevel }) => {
  const bare = (name: string): PodContainer => ({
    ...{ name, sidecar: false, ready: true, restartsOnCPU: false },
    ...{ ...NO_RESOURCES, applied: NO_RESOURCES },
  });
  const limitCPU = request + more;
  const containers = [
    enforcedContainer({
      ...MEMORY,
      name: "c0",
      requests: { ...MEMORY.requests, cpu: request },
      limits: { ...MEMORY.limits, cpu: limitCPU },
      applied: { limits: { cpu: limitCPU } },
    }),
    ...siblings.map(([fields, sidecar], index) =>
      withFields(bare(`c${index + 1}`), { ...fields, sidecar })
    ),
  ].sort((a, b) => Number(a.sidecar) - Number(b.sidecar));
  const sidecars = containers.filter(({ sidecar }) => sidecar).length;
  const initContainers = inits.map(([fields, before], index) =>
    withFields(bare(`i${index}`), { ...fields, sidecarsBefore: Math.min(before, sidecars) })
  );
  const pod = enforcedPod(defined({ containers, initContainers, podLevel }));
  return { ...pod, qosClass: qosClassOfPod(pod) };
});

const items: fc.Arbitrary<LimitRangeItem> = fc.record({
  type: fc.constantFrom("Container" as const, "Pod" as const),
  min: fc.constantFrom(undefined, undefined, 10, 50),
  max: fc.constantFrom(undefined, 400, 900, 2000),
  ratio: fc.constantFrom(undefined, undefined, 2, 5, 20),
  defaults: fc.constantFrom(
    ...Array<undefined>(3).fill(undefined),
    { "limits.cpu": "700m" },
    { "requests.cpu": "10m", "limits.cpu": "700m" },
    { "requests.memory": "1Mi", "limits.memory": "2Mi" },
  ),
}).map(({ defaults, ...item }) =>
  defined({ ...item, defaults: item.type === "Pod" ? undefined : defaults })
);

/** The server's answer to these limits: it refuses, writes more than was asked for, or neither. */
function answerOf(
  store: ObjectStore,
  { pod, limits }: { readonly pod: Pod; readonly limits: ReadonlyMap<string, number> },
): "refused" | "defaults" | "taken" {
  const changes = pod.containers.flatMap(({ name, sidecar }) => {
    const limitCPU = limits.get(name);
    return limitCPU === undefined
      ? []
      : [{ name, sidecar, requests: {}, limits: { cpu: limitCPU } }];
  });
  const asked = resizePod(pod, resizePatch(pod.metadata.uid, changes), { manager: "test" });
  try {
    const after = writeDefaults(store, asked);
    if (after !== asked) return "defaults";
    checkLimitRanges(store, after);
    return "taken";
  } catch (error) {
    assert.ok(error instanceof ApiError);
    return "refused";
  }
}

pure("decide() asks for nothing that LimitRanges refuse or add to, nor holds else", () => {
  const clock = createVirtualClock({ wallStart: 0 });
  const counts = { cases: 0, changed: 0, held: 0 };
  fc.assert(
    fc.property(
      pods,
      fc.array(items, { minLength: 1, maxLength: 3 }),
      fc.array(fc.tuple(fc.constantFrom("c0", "c1", "c2"), millicores), { minLength: 1 }),
      (pod, all, raises) => {
        counts.cases++;
        const { store } = createSimulatedAPI({ clock, random: seededRandom(1) });
        store.tables.LimitRange.create({ metadata, items: all });
        const limits = new Map(raises.flatMap(([name, more]) => {
          const found = pod.containers.find((one) => one.name === name);
          return found?.limits.cpu === undefined
            ? []
            : [[name, (found.requests.cpu ?? 0) + more] as const];
        }));
        const limitRange = resourceRangesOf(store.tables.LimitRange.all());
        const { changes, reason } = decideClaim({
          pod,
          claims: [...limits].map(([name, limit]) => marketClaim(limit, name)),
          ...(limitRange === undefined ? {} : { limitRange }),
        });
        if (changes.length > 0) {
          counts.changed++;
          const asked = new Map(
            changes.map(({ name, limits: { cpu: limitCPU } }) => [name, limitCPU]),
          );
          assert.equal(answerOf(store, { pod, limits: asked }), "taken");
        } else if (reason === "LimitRange") {
          counts.held++;
          assert.notEqual(answerOf(store, { pod, limits }), "taken");
        }
      },
    ),
  );
  const least = counts.cases / 20;
  assert.ok(counts.changed > least && counts.held > least, JSON.stringify(counts));
});
