import assert from "node:assert/strict";
import {
  type PlacementDecision,
  placementPatch,
  type PlacementRequest,
  placementRequest,
} from "../../shared/placement/new_pod.ts";
import type { ShortagePhase } from "../../shared/placement/shortage.ts";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import {
  DB_OWNER,
  dbStatefulSet,
  manualCaches,
  PLACEMENT_RULES,
  podRequest,
  SHOP,
  storedPod,
  WEB_SET,
  webDeployment,
} from "../../tests/fixtures/placement/placement_caches.ts";
import { type AdmissionDeciderOptions, createAdmissionDecider } from "./admission.ts";
import { createWebhookView } from "./caches.ts";

const { classes } = PLACEMENT_RULES;
const SIGNAL = new AbortController().signal;
const FIRST = { class: "on-demand", deletionCost: -1 };

type Changes = Parameters<typeof podRequest>[1];

function stage(
  { caches = manualCaches(), readOnly = false, ...options }: AdmissionDeciderOptions & {
    readonly caches?: ReturnType<typeof manualCaches>;
    readonly readOnly?: boolean;
  } = {},
) {
  const clock = createVirtualClock({ wallStart: 0 });
  let shortage: ShortagePhase = "none";
  const decider = createAdmissionDecider({
    view: createWebhookView(caches, { rules: () => PLACEMENT_RULES }),
    rules: () => ({ ...PLACEMENT_RULES, readOnly }),
    shortageOf: () => shortage,
    clock,
  }, { settleMs: 0, ...options });
  let asked = 0;
  return {
    clock,
    caches,
    decider,
    short: (phase: ShortagePhase) => void (shortage = phase),
    ask: (changes: Changes = {}, more: Partial<PlacementRequest> = {}, signal = SIGNAL) =>
      decider.decide({ ...requestOf(`${++asked}`, changes), ...more }, signal),
    wait: (ms: number) => clock.runUntil(clock.monotonic() + ms),
  };
}

function requestOf(id: string, changes: Changes = {}): PlacementRequest {
  const found = placementRequest(podRequest(id, changes));
  assert.ok(found !== undefined);
  return found;
}

async function classesOf(
  ask: (changes: Changes) => Promise<PlacementDecision>,
  ...pods: readonly Changes[]
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const pod of pods) {
    const decision = await ask(pod);
    found.push("class" in decision ? decision.class : decision.unplaced);
  }
  return found;
}

const dbPod = (name: string): Changes => ({ owner: DB_OWNER, metadata: { name } });

Deno.test("createAdmissionDecider() fills the floor first and keeps the split on the way", async () => {
  const annotations = { "spotalis.io/spot-percentage": "50", "spotalis.io/min-on-demand": "2" };
  const { ask, decider } = stage({
    caches: manualCaches({ deployment: webDeployment(6, annotations) }),
  });
  const on = "on-demand";
  const found = await classesOf(ask, {}, {}, {}, {}, {}, {});
  assert.deepEqual(found, [on, on, "spot", "spot", on, "spot"]);
  assert.equal(decider.reserved, 6);
});

Deno.test("createAdmissionDecider() ends a reservation when its pod is observed", async () => {
  const { ask, decider, caches } = stage();
  const decision = await ask();
  assert.ok("class" in decision);
  const request = podRequest("1");
  const patch = placementPatch(request.object!, { to: decision.class, classes });
  const pod = storedPod(request, { name: "web-5f-a", patch });
  caches.pods.put(pod);
  assert.equal(decider.reserved, 0);
  // The pod exists, so the next one is the second.
  assert.deepEqual(await ask(), { class: "spot", deletionCost: -2 });
  caches.pods.put({ ...pod, nodeName: "n1" });
  caches.pods.put(storedPod(request, { name: "web-5f-unadmitted" }));
  assert.equal(decider.reserved, 1);
});

Deno.test("createAdmissionDecider() ends the reservation of a pod that is gone before the next is created", async () => {
  const { ask, decider, caches } = stage();
  await ask();
  const labels = { "pod-template-hash": "5f", "spotalis.io/capacity": "on-demand" };
  const pod = storedPod(podRequest("1", { metadata: { labels } }), { name: "web-5f-a" });
  caches.pods.put(pod);
  caches.pods.remove(pod);
  assert.equal(decider.reserved, 0);
  assert.deepEqual(await ask(), FIRST);
});

Deno.test("createAdmissionDecider() expires reservations, also of workloads that create no more pods", async () => {
  const { ask, decider, wait } = stage();
  await ask();
  await wait(30_000);
  await ask(dbPod("db-1"));
  assert.equal(decider.reserved, 1);
});

Deno.test("createAdmissionDecider() reserves nothing for a dry run, or in read-only mode", async () => {
  for (const readOnly of [true, false]) {
    const { ask, decider } = stage({ readOnly });
    assert.deepEqual(await ask({ dryRun: !readOnly }), FIRST);
    assert.deepEqual(await ask({ dryRun: !readOnly }), FIRST);
    assert.equal(decider.reserved, 0);
  }
});

Deno.test("createAdmissionDecider() decides the same for a pod that carries its decision", async () => {
  const { ask, decider } = stage();
  await ask();
  await ask();
  const carrying = (capacity: string, cost: number) => ({
    metadata: {
      generateName: "web-5f-",
      labels: { "pod-template-hash": "5f", "spotalis.io/capacity": capacity },
      annotations: { "controller.kubernetes.io/pod-deletion-cost": `${cost}` },
    },
  });
  assert.deepEqual(await ask(carrying("spot", -2)), { class: "spot", deletionCost: -2 });
  assert.equal(decider.reserved, 2);
  // A template that carries a decision of its own changes nothing.
  assert.deepEqual(await ask(carrying("on-demand", -77)), { class: "spot", deletionCost: -3 });
  assert.equal(decider.reserved, 3);
});

Deno.test("createAdmissionDecider() goes by the ordinal of a StatefulSet's pod, without a cost", async () => {
  const { ask } = stage();
  const found = await classesOf(ask, dbPod("db-9"), dbPod("db-2"), dbPod("db-3"), dbPod("db-0"));
  assert.deepEqual(found, ["spot", "on-demand", "spot", "on-demand"]);
  assert.deepEqual(await ask(dbPod("db-1")), { class: "on-demand" });
});

Deno.test("createAdmissionDecider() counts each revision by itself, and heeds a shortage", async () => {
  const { ask, short } = stage();
  await ask();
  assert.deepEqual(await ask({ metadata: { labels: { "pod-template-hash": "6a" } } }), FIRST);
  short("fallback");
  assert.deepEqual(await classesOf(ask, {}, {}), ["on-demand", "on-demand"]);
});

Deno.test("createAdmissionDecider() waits for an owner that caches don't have yet", async () => {
  const { ask, caches, decider, wait } = stage();
  caches.replicaSets.remove(WEB_SET);
  const [first, second] = [ask(), ask()];
  await wait(49);
  caches.replicaSets.put(WEB_SET);
  await wait(0);
  assert.deepEqual(await first, FIRST);
  assert.deepEqual(await second, { class: "spot", deletionCost: -2 });
  caches.replicaSets.remove(WEB_SET);
  const third = ask();
  // A namespace alone does not help.
  await wait(20);
  caches.namespaces.put(SHOP);
  await wait(30);
  assert.deepEqual(await third, { unplaced: "CopyBehind" });
  assert.equal(decider.reserved, 2);
});

Deno.test("createAdmissionDecider() waits for the replicas that a pod's ordinal implies", async () => {
  const caches = manualCaches({ statefulSet: dbStatefulSet(2) });
  const { ask, wait } = stage({ caches });
  const decision = ask(dbPod("db-2"));
  await wait(10);
  caches.statefulSets.put(dbStatefulSet(10));
  await wait(0);
  assert.deepEqual(await decision, { class: "on-demand" });
});

Deno.test("createAdmissionDecider() reserves nothing once no server waits, or after its end", async () => {
  const { ask, caches, clock, decider, wait } = stage();
  caches.replicaSets.remove(WEB_SET);
  const gone = new AbortController();
  const [late, last] = [ask({}, {}, gone.signal), ask()];
  gone.abort();
  assert.deepEqual(await late, { unplaced: "TimedOut" });
  decider.close();
  caches.replicaSets.put(WEB_SET);
  await wait(50);
  assert.deepEqual(await last, { unplaced: "NoLeader" });
  assert.deepEqual(await ask(), { unplaced: "NoLeader" });
  assert.deepEqual([decider.reserved, clock.monotonic()], [0, 50]);
});

Deno.test("createAdmissionDecider() decides nothing until it knows the former leader's admissions", async () => {
  const { ask, wait } = stage({ settleMs: 2000 });
  await wait(1999);
  assert.deepEqual(await ask(), { unplaced: "LeaderUnsettled" });
  await wait(1);
  assert.deepEqual(await ask(), FIRST);
});

Deno.test("createAdmissionDecider() leaves pods that take no part, are invalid or not known", async () => {
  const { ask, caches, decider, wait } = stage();
  const enabled = webDeployment(10);
  caches.deployments.put(webDeployment(10, { "spotalis.io/spot-percentage": "half" }));
  const decision = await ask();
  assert.ok("unplaced" in decision && decision.unplaced === "ConfigurationError");
  assert.match(decision.warning ?? "", /Deployment web .*spot-percentage .* is "half"/);
  caches.deployments.put({ ...enabled, metadata: { ...enabled.metadata, labels: {} } });
  assert.deepEqual(await ask(), { unplaced: "NotPlaced" });
  caches.deployments.put(enabled);
  assert.deepEqual(await ask({}, { pinned: true }), { unplaced: "NodesBound" });
  const labels = { "spotalis.io/enabled": "false" };
  caches.namespaces.put({ metadata: { ...SHOP.metadata, labels } });
  assert.deepEqual(await ask({}, { pinned: true }), { unplaced: "NotPlaced" });
  caches.namespaces.remove(SHOP);
  const unknown = ask();
  await wait(50);
  assert.deepEqual(await unknown, { unplaced: "CopyBehind" });
  caches.pods.synced = false;
  assert.deepEqual(await ask(), { unplaced: "NotSynced" });
  assert.equal(decider.reserved, 0);
});

Deno.test("createAdmissionDecider() sends a pod to the nodes of its volume, in a fallback too", async () => {
  const spec = { volumes: [{ name: "d", persistentVolumeClaim: { claimName: "data" } }] };
  const metadata = { name: "s0", uid: "s0", resourceVersion: "1" };
  for (const phase of ["none", "fallback"] as const) {
    const { ask, short, caches, decider } = stage();
    const onto = (key: string, value: string) =>
      caches.volumes.put({
        metadata,
        claim: "shop/data",
        nodes: [[{ key, operator: "In", values: [value] }]],
      });
    caches.nodes.put({ metadata, labels: { "karpenter.sh/capacity-type": "spot" } });
    onto("kubernetes.io/hostname", "s0");
    short(phase);
    // The first ordinal is on-demand otherwise.
    assert.deepEqual(await ask({ ...dbPod("db-0"), spec }), { class: "spot" });
    assert.deepEqual(await ask({ spec }), { class: "spot", deletionCost: -2 });
    // Its affinity names hosts of the other class.
    assert.deepEqual(await ask({ spec }, { only: "on-demand" }), { unplaced: "NodesBound" });
    onto("kubernetes.io/hostname", "gone");
    assert.deepEqual(await ask({ spec }), { unplaced: "NodesBound" });
    assert.equal(decider.reserved, 2);
    onto("zone", "a");
    const found = await classesOf((pod) => ask(pod, { only: "spot" }), { spec });
    assert.deepEqual(found, ["spot"]);
  }
});
