import assert from "node:assert/strict";
import type { ResizePatch } from "../../shared/actuation/resize_patch.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import type { Pod } from "../../shared/api/pod.ts";
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import { createBackoff } from "../../shared/control/backoff.ts";
import type { Informer } from "../../shared/control/informer.ts";
import type { ApiObject } from "../../shared/control/list_watch.ts";
import { objectKey } from "../../shared/control/object_key.ts";
import { createRateLimiter } from "../../shared/control/rate_limiter.ts";
import { silentLog } from "../../shared/log.ts";
import { createVirtualClock } from "../../simulation/virtual_clock.ts";
import { sampleContainer, sampleDesired, samplePod } from "../../tests/contract/sample_objects.ts";
import { DEFAULT_MARKET_CONFIG } from "../config.ts";
import { createEventGate } from "./event_gate.ts";
import { MAX_CPU } from "./overrides.ts";
import type { PodEvent } from "./ports.ts";
import { createReconciler } from "./reconcile.ts";
import { MANAGED } from "../../shared/actuation/scope.ts";
import { createTurns } from "./turns.ts";

/** A cache that holds what the test says. */
function cacheOf<T extends ApiObject>(objects: Map<string, T>): Informer<T> {
  return {
    get: (key) => objects.get(key),
    byIndex: () => [],
    all: () => objects.values(),
    synced: true,
    whenSynced: () => Promise.resolve(true),
    subscribe: () => () => {},
    run: () => Promise.resolve(),
  };
}

function nextVersion(pod: Pod | undefined): string {
  return `${Number(pod?.metadata.resourceVersion) + 1}`;
}

/** One pod with an own limit of 200 m; every write is seen at once, but for patches. */
function stage() {
  const clock = createVirtualClock({ wallStart: 0 });
  const pods = new Map<string, Pod>();
  const allocations = new Map<string, PodAllocation>();
  const events: PodEvent[] = [];
  const patches: ResizePatch[] = [];
  const state: { refusal: ApiError | undefined; removed: number } = {
    refusal: undefined,
    removed: 0,
  };
  const keep = (allocation: PodAllocation): Promise<PodAllocation> => {
    allocations.set(objectKey(allocation.metadata), allocation);
    return Promise.resolve(allocation);
  };
  const look = createReconciler({
    caches: {
      pods: cacheOf(pods),
      allocations: cacheOf(allocations),
      namespaces: cacheOf(new Map()),
      nodes: cacheOf(new Map()),
      leases: cacheOf(new Map()),
      limitRanges: cacheOf(new Map()),
      resourceQuotas: cacheOf(new Map()),
    },
    store: {
      create: keep,
      writeStatus: keep,
      remove: ({ metadata }) => {
        state.removed++;
        allocations.delete(objectKey(metadata));
        return Promise.resolve();
      },
    },
    resizer: {
      resize: (_namespace, _name, patch) => {
        patches.push(patch);
        if (state.refusal !== undefined) return Promise.reject(state.refusal);
        return Promise.resolve(nextVersion(pods.get("shop/web")));
      },
    },
    events: createEventGate({ emit: (event) => void events.push(event) }, clock),
    clock,
    log: silentLog,
    config: DEFAULT_MARKET_CONFIG,
    backoff: createBackoff(),
    templates: { limitsOf: () => Promise.resolve(undefined) },
    turns: createTurns({ perSecond: 1000 }),
    newAllocations: createRateLimiter({ perSecond: 1, burst: 1 }),
    isSilent: () => false,
  });
  const setPod = (change: (pod: Pod) => Pod): void => {
    const containers = [sampleContainer({ containerID: "containerd://a", appliedLimitCPU: 200 })];
    const sample = samplePod("web", { containers });
    const { metadata } = sample;
    const running = { phase: "Running", metadata: { ...metadata, uid: "u1" } } as const;
    const pod = change(pods.get("shop/web") ?? { ...sample, ...running });
    const resourceVersion = nextVersion(pod);
    pods.set("shop/web", { ...pod, metadata: { ...pod.metadata, resourceVersion } });
  };
  const want = (limit: string): void => {
    const allocation = allocations.get("shop/u1");
    const desired = sampleDesired(limit);
    const observedBounds = allocation?.status?.bounds?.revision ?? 0;
    assert.ok(allocation !== undefined && desired.market !== undefined);
    const market = { ...desired.market, observedBounds };
    void keep({ ...allocation, spec: { ...allocation.spec, ...desired, market } });
  };
  setPod((pod) => pod);
  const status = () => allocations.get("shop/u1")?.status;
  const reconcile = () => look("shop/web");
  return { clock, pods, events, patches, state, setPod, want, status, look, reconcile };
}

function limited(pod: Pod, limitCPU: number): Pod {
  const containers = pod.containers.map((app) => ({
    ...app,
    limitCPU,
    appliedLimitCPU: limitCPU,
    limitManagers: ["mbcas"],
  }));
  return { ...pod, containers };
}

function test(name: string, fn: () => void | Promise<void>): void {
  Deno.test({ name, permissions: "none", fn });
}

test("createReconciler() creates allocations at the rate that is set", async () => {
  const { pods, look, reconcile, status } = stage();
  const web = pods.get("shop/web");
  assert.ok(web);
  pods.set("shop/db", { ...web, metadata: { ...web.metadata, name: "db", uid: "u2" } });
  assert.deepEqual(await reconcile(), {});
  assert.equal(status()?.bounds?.revision, 1);
  assert.deepEqual(await look("shop/db"), { requeueAfterMs: 1000 });
});

test("createReconciler() patches once while the cache tells old news", async () => {
  const { reconcile, want, patches, setPod, status } = stage();
  await reconcile();
  want("300m");
  assert.deepEqual(await reconcile(), { requeueAfterMs: 10_000 });
  assert.deepEqual(await reconcile(), { requeueAfterMs: 10_000 });
  assert.equal(patches.length, 1);
  setPod((pod) => limited(pod, 300));
  await reconcile();
  assert.equal(patches.length, 1);
  assert.equal(status()?.appliedCPULimit, "300m");
});

test("createReconciler() writes a pending reason only when it lasts over 2 s", async () => {
  const { reconcile, status, clock } = stage();
  await reconcile();
  assert.deepEqual(await reconcile(), { requeueAfterMs: 2000 });
  assert.equal(status()?.phase, undefined);
  await clock.runUntil(2000);
  await reconcile();
  assert.equal(status()?.phase, "Pending");
  assert.equal(status()?.reason, "Waiting");
});

test("createReconciler() keeps the server's word during the back-off", async () => {
  const { reconcile, want, state, status, clock, patches } = stage();
  await reconcile();
  want("300m");
  state.refusal = new ApiError(403, "Forbidden", "exceeded quota");
  assert.deepEqual(await reconcile(), { requeueAfterMs: 1000 });
  await clock.runUntil(999);
  assert.deepEqual(await reconcile(), { requeueAfterMs: 1 });
  assert.equal(patches.length, 1);
  assert.equal(status()?.reason, "QuotaExceeded");
  assert.equal(status()?.phase, "Failed");
  assert.equal(status()?.message, "exceeded quota");
  assert.equal(status()?.lastAttemptTime, "1970-01-01T00:00:00.000Z");
  await clock.runUntil(1000);
  assert.deepEqual(await reconcile(), { requeueAfterMs: 2000 });
});

test("createReconciler() calls a refused restore RestoreBlocked, and retries it", async () => {
  const { reconcile, setPod, state, status, clock } = stage();
  await reconcile();
  setPod((pod) => {
    const { metadata } = limited(pod, 300);
    return { ...limited(pod, 300), metadata: { ...metadata, labels: { [MANAGED]: "false" } } };
  });
  state.refusal = new ApiError(403, "Forbidden", "exceeded quota");
  assert.deepEqual(await reconcile(), { requeueAfterMs: 1000 });
  assert.equal(status()?.reason, "RestoreBlocked");
  assert.equal(status()?.phase, "Failed");
  state.refusal = undefined;
  await clock.runUntil(1000);
  await reconcile();
  setPod((pod) => limited(pod, 200));
  assert.equal(state.removed, 0);
  await reconcile();
  assert.equal(state.removed, 1);
});

test("createReconciler() forgets a refusal when a pod of the same name is born", async () => {
  const { reconcile, want, state, setPod, clock } = stage();
  await reconcile();
  want("300m");
  state.refusal = new ApiError(422, "Invalid", "metadata.uid: field is immutable");
  assert.deepEqual(await reconcile(), {});
  state.refusal = new ApiError(403, "Forbidden", "no");
  assert.deepEqual(await reconcile(), { requeueAfterMs: 1000 });
  assert.deepEqual(await reconcile(), { requeueAfterMs: 1000 });
  await clock.runUntil(1000);
  assert.deepEqual(await reconcile(), { requeueAfterMs: 2000 });
  setPod((pod) => ({ ...pod, metadata: { ...pod.metadata, uid: "u2" } }));
  assert.deepEqual(await reconcile(), {});
  setPod((pod) => ({ ...pod, metadata: { ...pod.metadata, uid: "u1" } }));
  assert.deepEqual(await reconcile(), { requeueAfterMs: 1000 });
});

test("createReconciler() tells of an ignored annotation once", async () => {
  const { reconcile, setPod, events, clock } = stage();
  setPod((pod) => ({
    ...pod,
    metadata: { ...pod.metadata, annotations: { [MAX_CPU]: "64" } },
  }));
  await reconcile();
  await clock.runUntil(600_000);
  await reconcile();
  const told = events.filter(({ reason }) => reason === "AnnotationIgnored");
  assert.equal(told.length, 1);
  assert.equal(told[0]?.type, "Warning");
  assert.match(told[0]?.message ?? "", /max-cpu: "64" asks for more/);
});
