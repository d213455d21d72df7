import assert from "node:assert/strict";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import type { NodeTerm } from "../../shared/api/node.ts";
import { silentLog } from "../../shared/log.ts";
import { NODE_CLASS_PRESETS } from "../../shared/placement/node_classes.ts";
import { sampleNode } from "../../tests/contract/support/sample_objects.ts";
import { sampleBudget } from "../../tests/fixtures/placement/placed_pods.ts";
import {
  DB_OWNER,
  manualCaches,
  PLACEMENT_RULES,
  podRequest,
  storedPod,
  WEB_OWNER,
  WEB_SET,
  webDeployment,
} from "../../tests/fixtures/placement/placement_caches.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { keptCheckpoints } from "../../tests/fixtures/rightsizing/kept_checkpoints.ts";
import { cachedObjects, createWebhookView } from "./caches.ts";
import { createPlacementState, decodeMemory, memoryAt, type PlacementMemory } from "./store.ts";
import { createDepartureTimes } from "./watch.ts";

function stage() {
  const caches = manualCaches();
  const evicted = new Set<string>();
  const config = { ...PLACEMENT_RULES };
  const view = createWebhookView(caches, { config, evicted });
  const of = (owner = WEB_OWNER) => view.workloadOf({ namespace: "shop", owner });
  return {
    caches,
    config,
    evicted,
    view,
    of,
    pods() {
      const web = of();
      assert.ok(web !== undefined && web !== "other");
      return view.podsOf(web);
    },
  };
}

const SPOT = { "karpenter.sh/capacity-type": "spot" };
const NODE = { ...sampleNode("n1"), labels: SPOT };
const webPod = (number: number, changes: Parameters<typeof podRequest>[1] = {}) =>
  storedPod(podRequest(`${number}`, changes), { name: `web-5f-${number}` });

Deno.test("cachedObjects() finds objects by owner, name, namespace and claim", () => {
  const caches = manualCaches();
  caches.pods.put(webPod(1));
  caches.nodes.put(NODE);
  caches.budgets.put(sampleBudget());
  const metadata = { name: "pv", namespace: "shop", uid: "", resourceVersion: "" };
  caches.volumes.put({ metadata, claim: "shop/data" });
  const objects = cachedObjects(caches);
  const found = [
    ...objects.replicaSetsOwnedBy("web"),
    ...objects.podsOwnedBy("rs"),
    ...objects.podsOwnedBy("other"),
    ...objects.nodes(),
    ...objects.budgetsIn("shop"),
    ...objects.volumesOf("shop/data"),
  ];
  const names = found.map((one) => one.metadata.name);
  assert.deepEqual(names, ["web-5f", "web-5f-1", "n1", "web", "pv"]);
  assert.equal(objects.node("n1"), NODE);
  assert.equal(objects.namespace("other"), undefined);
});

Deno.test("createWebhookView() finds workloads by UID, through the ReplicaSet of a Deployment", () => {
  const { caches, of } = stage();
  const uidOf = (owner = WEB_OWNER) => {
    const found = of(owner);
    return found === "other" ? found : found?.metadata.uid;
  };
  assert.deepEqual([uidOf(), uidOf(DB_OWNER)], ["web", "db"]);
  // The same name, but another object or one that the caches don't have yet.
  const others = [{ ...WEB_OWNER, uid: "next" }, { ...DB_OWNER, uid: "next" }];
  for (const owner of [...others, { ...WEB_OWNER, name: "api-5f" }]) {
    assert.equal(of(owner), undefined);
  }
  assert.equal(of({ ...WEB_OWNER, kind: "DaemonSet" }), "other");
  assert.equal(of({ ...DB_OWNER, apiVersion: "apps.kruise.io/v1" }), "other");
  const another = webDeployment(1);
  caches.deployments.put({ ...another, metadata: { ...another.metadata, uid: "anew" } });
  assert.equal(of(), undefined);
  const { deployment: _owner, ...bare } = WEB_SET;
  caches.replicaSets.put(bare);
  assert.equal(of(), "other");
});

Deno.test("createWebhookView() counts the pods that the workload owns, by class and admission", () => {
  const { caches, pods } = stage();
  const labels = { "pod-template-hash": "5f", "spotalis.io/capacity": "spot" };
  caches.pods.put(webPod(1, { spec: { nodeSelector: SPOT }, metadata: { labels } }));
  caches.pods.put({ ...webPod(2), phase: "Succeeded" });
  caches.pods.put({ ...webPod(3), nodeName: "n1" });
  const owner = { ...WEB_OWNER, name: "web-6a", uid: "rs2" };
  caches.pods.put(storedPod(podRequest("4", { owner }), { name: "web-6a-4", owner }));
  caches.nodes.put(NODE);
  assert.deepEqual(
    pods().map((pod) => [pod.name, pod.class, pod.gone, pod.scheduled, pod.unadmitted]),
    [
      ["web-5f-1", "spot", false, false, undefined],
      ["web-5f-2", "on-demand", true, false, true],
      ["web-5f-3", "spot", false, true, true],
    ],
  );
  const metadata = { ...WEB_SET.metadata, name: "web-6a", uid: "rs2" };
  caches.replicaSets.put({ ...WEB_SET, metadata });
  assert.equal(pods().length, 4);
});

Deno.test("createWebhookView() counts a pod anew when its node, an eviction or a setting changes", () => {
  const { caches, config, evicted, pods } = stage();
  const taints = [{ key: "karpenter.sh/disrupted", value: "", effect: "NoSchedule" }];
  const steps: readonly (readonly [() => unknown, string])[] = [
    [() => caches.pods.put({ ...webPod(1), nodeName: "n1" }), "on-demand false"],
    [() => caches.nodes.put(NODE), "spot false"],
    [() => config.classes = NODE_CLASS_PRESETS.eks, "on-demand false"],
    [() => config.classes = PLACEMENT_RULES.classes, "spot false"],
    [() => caches.nodes.put({ ...NODE, taints }), "spot true"],
    [() => config.departures = { taints: [], conditions: [] }, "spot false"],
    [() => evicted.add("uid-web-5f-1"), "spot true"],
    [() => evicted.clear(), "spot false"],
  ];
  for (const [change, expected] of steps) {
    change();
    assert.deepEqual(pods().map((pod) => `${pod.class} ${pod.gone}`), [expected], `${change}`);
  }
});

Deno.test("createWebhookView() calls with each changed pod and its workload, and at any change", () => {
  const { caches, view } = stage();
  const seen: string[] = [];
  let changes = 0;
  const ends = [
    view.onPod(({ name }, uid) => seen.push(`${name} of ${uid}`)),
    view.onChange(() => void changes++),
  ];
  caches.pods.put(webPod(1));
  caches.pods.remove(webPod(1));
  caches.pods.put(storedPod(podRequest("2"), { name: "x", owner: { ...WEB_OWNER, uid: "old" } }));
  assert.deepEqual([seen, changes], [["web-5f-1 of web"], 3]);
  ends.forEach((end) => end());
  caches.pods.put(webPod(1));
  assert.equal(changes, 3);
});

Deno.test("createWebhookView() allows the classes of the nodes that volumes and affinity name", () => {
  const { caches, view } = stage();
  for (const one of ["spot", "on-demand"]) {
    const labels = { "karpenter.sh/capacity-type": one, "kubernetes.io/hostname": `${one}.host` };
    caches.nodes.put({ ...sampleNode(`${one}-0`), labels });
  }
  const on = (key: string, ...values: readonly string[]): NodeTerm => [
    { key, operator: "In", values },
  ];
  const affinity = (terms: readonly NodeTerm[]) => [{ what: "its affinity", terms }];
  const allowed = (claims: readonly string[], constraints = affinity([on("zone", "a")])) =>
    view.allowed({ namespace: "shop", claims, constraints }).join();
  const both = "spot,on-demand";
  const host = "kubernetes.io/hostname";
  // Nodes are known by name and by label; tests of allowedClasses() have more terms.
  const rows: readonly (readonly [string, readonly NodeTerm[]])[] = [
    ["on-demand", [on(host, "on-demand-0")]],
    [both, [on(host, "spot.host", "on-demand.host")]],
    ["", [on(host, "gone")]],
    ["spot", [on(host, "spot.host")]],
  ];
  const metadata = { name: "pv", uid: "pv", resourceVersion: "1" };
  for (const [expected, nodes] of rows) {
    caches.volumes.put({ metadata, claim: "shop/data", nodes });
    assert.equal(allowed(["logs", "data"]), expected);
    assert.equal(allowed([], affinity(nodes)), expected);
  }
  assert.equal(allowed(["data"], affinity([on(host, "on-demand-0")])), "");
  assert.equal(allowed(["logs"]), both);
});

Deno.test("createWebhookView() is synced when each cache is", () => {
  const { caches, view } = stage();
  assert.ok(view.synced);
  for (const one of [caches.volumes, caches.replicaSets, caches.pods, caches.deployments]) {
    one.synced = false;
    assert.ok(!view.synced);
    one.synced = true;
  }
});

Deno.test("createDepartureTimes() keeps the time of a sign while it stays, and not of another", () => {
  let now = 5;
  const times = createDepartureTimes(() => now++);
  const since = (sign: string) => times.sinceMs("a", sign);
  for (let seen = 0; seen < 2; seen++) {
    times.observe("a", "taint x");
    assert.deepEqual([since("taint x"), times.sinceMs("b", "taint x")], [5, 6]);
  }
  times.observe("a", "taint y");
  assert.equal(since("taint y"), 7);
  times.observe("a", undefined);
  assert.equal(since("taint y"), 8);
});

const NOW_MS = Date.UTC(2026, 0, 1);
const MOVED: PlacementMemory = { lastMoveAtMs: NOW_MS };
const INEFFECTIVE = { count: 3, misplaced: 2, spec: { spotPercentage: 70, minOnDemand: 1 } };
const REMADE = { atMs: NOW_MS - 50_000, count: 2 };
const SHORTAGE = { sinceMs: NOW_MS - 100_000, untilMs: NOW_MS, rounds: 2, remade: REMADE };

function storeStage() {
  const clock = createVirtualClock({ wallStart: NOW_MS });
  const store = keptCheckpoints();
  const { signal } = new AbortController();
  const open = () => createPlacementState({ store, clock, log: silentLog });
  return { clock, store, signal, open };
}

Deno.test("createPlacementState() reads what an earlier process saved, and nothing else", async () => {
  const { store, signal, open } = storeStage();
  const state = open();
  assert.equal(await state.load(signal), true);
  const all = { lastMoveAtMs: NOW_MS, shortage: SHORTAGE, ineffectiveMoves: INEFFECTIVE };
  state.remember("web", all);
  await state.save(signal);
  state.remember("db", MOVED);
  const next = open();
  await next.load(signal);
  assert.deepEqual(["web", "db"].map((uid) => next.memoryOf(uid, NOW_MS)), [all, {}]);
  assert.deepEqual([...store.kept.keys()], ["mbcas-moves-0"]);
});

Deno.test("createPlacementState() throws errors of the server, and writes all the next time", async () => {
  const { store, signal, open } = storeStage();
  const state = open();
  state.remember("web", MOVED);
  store.refusal = new ApiError(503, "", "busy");
  await assert.rejects(() => state.save(signal), ApiError);
  store.refusal = undefined;
  await state.save(signal);
  await state.save(signal);
  assert.deepEqual(store.writes, ["apply mbcas-moves-0"]);
});

Deno.test("createPlacementState() deletes workloads that are gone, and retries failed writes", async () => {
  const { store, signal, open } = storeStage();
  const state = open();
  for (const uid of ["web", "api"]) state.remember(uid, MOVED);
  await state.save(signal);
  store.refusal = new ApiError(503, "", "busy");
  await state.retain(new Set(["api"]), { cooldownMs: 10_000, signal });
  assert.deepEqual(state.memoryOf("web", NOW_MS), {});
  store.refusal = undefined;
  await state.retain(new Set(["api"]), { cooldownMs: 10_000, signal });
  const next = open();
  await next.load(signal);
  assert.deepEqual(["web", "api"].map((uid) => next.memoryOf(uid, NOW_MS)), [{}, MOVED]);
  // Nothing to remember is nothing to store.
  next.remember("api", {});
  await next.save(signal);
  assert.equal(store.kept.size, 0);
});

Deno.test("createPlacementState() deletes moves that no cooldown counts from", async () => {
  const { clock, store, signal, open } = storeStage();
  const state = open();
  state.remember("web", MOVED);
  state.remember("api", { ...MOVED, shortage: SHORTAGE });
  await state.save(signal);
  await clock.runUntil(180_000);
  await state.retain(new Set(["web", "api"]), { cooldownMs: 10_000, signal });
  assert.deepEqual(state.memoryOf("web", NOW_MS), MOVED);
  await clock.runUntil(600_000);
  await state.retain(new Set(["web", "api"]), { cooldownMs: 600_000, signal });
  assert.deepEqual(state.memoryOf("web", NOW_MS), MOVED);
  await state.retain(new Set(["web", "api"]), { cooldownMs: 10_000, signal });
  assert.deepEqual(state.memoryOf("web", NOW_MS), {});
  assert.deepEqual(state.memoryOf("api", NOW_MS), { shortage: SHORTAGE });
  assert.equal(store.writes.length, 2);
});

Deno.test("createPlacementState() begins empty without the right to read", async () => {
  const { store, signal, open } = storeStage();
  store.refusal = new ApiError(403, "Forbidden", "no");
  assert.equal(await open().load(signal), true);
});

pure("decodeMemory() refuses what is no memory", () => {
  const shortage = { untilMs: 5, rounds: 0 };
  for (const stored of [null, [], "x", { lastMoveAtMs: "soon" }, { shortage }]) {
    assert.throws(() => decodeMemory(stored), SyntaxError, JSON.stringify(stored));
  }
  assert.deepEqual(decodeMemory({ ...MOVED, more: 1 }), MOVED);
});

pure("memoryAt() ignores a clock that was far ahead, and tolerates one that was slightly", () => {
  const aheadMs = NOW_MS + 7_200_000;
  const shortages = [
    { sinceMs: aheadMs, untilMs: aheadMs + 120_000, rounds: 1 },
    { untilMs: NOW_MS + 200_000_000, rounds: 1 },
  ];
  for (const shortage of shortages) {
    for (const laterMs of [0, 60_000, 3_600_000]) {
      assert.deepEqual(memoryAt({ lastMoveAtMs: aheadMs, shortage }, NOW_MS + laterMs), {});
    }
  }
  const nowMs = NOW_MS + 1;
  const remade = { atMs: nowMs, count: 1 };
  const shortage = { sinceMs: nowMs, untilMs: nowMs + 120_000, rounds: 1, remade };
  assert.deepEqual(memoryAt({ lastMoveAtMs: nowMs, shortage }, NOW_MS), {
    lastMoveAtMs: nowMs,
    shortage: { untilMs: nowMs + 120_000, rounds: 1 },
  });
});
