import assert from "node:assert/strict";
import {
  type PlacementDecision,
  type PlacementRequest,
  placementRequest,
} from "../../shared/placement/placement_request.ts";
import { placementPatch } from "../../shared/placement/placement_patch.ts";
import type { ShortagePhase } from "../../shared/placement/shortage.ts";
import { createVirtualClock } from "../../simulation/virtual_clock.ts";
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
} from "../../tests/fixtures/placement_caches.ts";
import { createWebhookView } from "./caches.ts";
import {
  type AdmissionDeciderOptions,
  type AdmissionGate,
  admissionGate,
  createAdmissionDecider,
  untilKnown,
} from "./admission.ts";

const { classes } = PLACEMENT_RULES;
const SIGNAL = new AbortController().signal;

function stage(
  { copies = manualCaches(), readOnly = false, ...options }: AdmissionDeciderOptions & {
    readonly copies?: ReturnType<typeof manualCaches>;
    readonly readOnly?: boolean;
  } = {},
) {
  const clock = createVirtualClock({ wallStart: 0 });
  let shortage: ShortagePhase = "none";
  const decider = createAdmissionDecider({
    view: createWebhookView(copies, { rules: () => PLACEMENT_RULES }),
    rules: () => ({ ...PLACEMENT_RULES, readOnly }),
    shortageOf: () => shortage,
    clock,
  }, { settleMs: 0, ...options });
  let asked = 0;
  return {
    clock,
    copies,
    decider,
    short: (phase: ShortagePhase) => void (shortage = phase),
    ask: (changes: Parameters<typeof podRequest>[1] = {}) =>
      decider.decide(requestOf(`${++asked}`, changes), SIGNAL),
    wait: (ms: number) => clock.runUntil(clock.monotonic() + ms),
  };
}

function requestOf(id: string, changes: Parameters<typeof podRequest>[1] = {}): PlacementRequest {
  const found = placementRequest(podRequest(id, changes));
  assert.ok(found !== undefined);
  return found;
}

async function classesOf(
  ask: () => Promise<PlacementDecision>,
  times: number,
): Promise<readonly string[]> {
  const classes: string[] = [];
  for (let time = 0; time < times; time++) {
    const decision = await ask();
    classes.push("class" in decision ? decision.class : decision.unplaced);
  }
  return classes;
}

Deno.test("createAdmissionDecider() fills the floor first and divides each number of pods on the way", async () => {
  const annotations = { "spotalis.io/spot-percentage": "50", "spotalis.io/min-on-demand": "2" };
  const { ask, decider } = stage({
    copies: manualCaches({ deployment: webDeployment(6, annotations) }),
  });
  const on = "on-demand";
  assert.deepEqual(await classesOf(ask, 6), [on, on, "spot", "spot", on, "spot"]);
  assert.equal(decider.reserved, 6);
});

Deno.test("createAdmissionDecider() ends a reservation when its pod is seen", async () => {
  const { ask, decider, copies } = stage();
  const decision = await ask();
  assert.ok("class" in decision);
  const request = podRequest("1");
  const patch = placementPatch(request.object!, { to: decision.class, classes });
  const pod = storedPod(request, { name: "web-5f-a", patch });
  copies.pods.put(pod);
  assert.equal(decider.reserved, 0);
  // The pod is there, so the next one is the second.
  assert.deepEqual(await ask(), { class: "spot", deletionCost: -2 });
  copies.pods.put({ ...pod, nodeName: "n1" });
  assert.equal(decider.reserved, 1);
  copies.pods.put(storedPod(request, { name: "web-5f-unadmitted" }));
  assert.equal(decider.reserved, 1);
});

Deno.test("createAdmissionDecider() ends a reservation whose pod is gone before the next is created", async () => {
  const { ask, decider, copies } = stage();
  await ask();
  const labels = { "pod-template-hash": "5f", "spotalis.io/capacity": "on-demand" };
  const pod = storedPod(podRequest("1", { metadata: { labels } }), { name: "web-5f-a" });
  copies.pods.put(pod);
  copies.pods.remove(pod);
  assert.equal(decider.reserved, 0);
  assert.deepEqual(await ask(), { class: "on-demand", deletionCost: -1 });
});

Deno.test("createAdmissionDecider() gives reservations up in time, also of workloads that create no more pods", async () => {
  const { ask, decider, wait } = stage({ reservedForMs: 1000 });
  await ask();
  await wait(2000);
  await ask({ owner: DB_OWNER, metadata: { name: "db-1" } });
  assert.equal(decider.reserved, 1);
});

Deno.test("createAdmissionDecider() reserves nothing for a dry run, or when it may only read", async () => {
  for (const readOnly of [true, false]) {
    const { ask, decider } = stage({ readOnly });
    const same = { class: "on-demand", deletionCost: -1 };
    assert.deepEqual(await ask({ dryRun: !readOnly }), same);
    assert.deepEqual(await ask({ dryRun: !readOnly }), same);
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
  const classes = await classesOf(
    (() => {
      const names = ["db-9", "db-2", "db-3", "db-0"].values();
      return () => ask({ owner: DB_OWNER, metadata: { name: names.next().value } });
    })(),
    4,
  );
  assert.deepEqual(classes, ["spot", "on-demand", "spot", "on-demand"]);
  assert.deepEqual(await ask({ owner: DB_OWNER, metadata: { name: "db-1" } }), {
    class: "on-demand",
  });
});

Deno.test("createAdmissionDecider() counts each revision by itself", async () => {
  const { ask } = stage();
  await ask();
  const labels = { "pod-template-hash": "6a" };
  assert.deepEqual(await ask({ metadata: { labels } }), { class: "on-demand", deletionCost: -1 });
});

Deno.test("createAdmissionDecider() sends pods to on-demand while spot nodes are short", async () => {
  const { ask, short } = stage();
  short("fallback");
  assert.deepEqual(await classesOf(ask, 3), ["on-demand", "on-demand", "on-demand"]);
});

Deno.test("createAdmissionDecider() waits for copies of a new owner, and no longer than it may", async () => {
  const copies = manualCaches();
  copies.replicaSets.remove(WEB_SET);
  const { ask, decider, wait } = stage({ copies, copyWithinMs: 50 });
  const first = ask();
  const second = ask();
  await wait(49);
  copies.replicaSets.put(WEB_SET);
  await wait(0);
  assert.deepEqual(await first, { class: "on-demand", deletionCost: -1 });
  assert.deepEqual(await second, { class: "spot", deletionCost: -2 });
  copies.replicaSets.remove(WEB_SET);
  const third = ask();
  await wait(50);
  assert.deepEqual(await third, { unplaced: "CopyBehind" });
  assert.equal(decider.reserved, 2);
});

Deno.test("createAdmissionDecider() waits for the number of replicas that a pod's ordinal tells of", async () => {
  const copies = manualCaches({ statefulSet: dbStatefulSet(2) });
  const { ask, wait } = stage({ copies });
  const decision = ask({ owner: DB_OWNER, metadata: { name: "db-2" } });
  await wait(10);
  copies.statefulSets.put(dbStatefulSet(10));
  await wait(0);
  assert.deepEqual(await decision, { class: "on-demand" });
});

Deno.test("createAdmissionDecider() reserves nothing for what no server waits for any more, or after its end", async () => {
  const copies = manualCaches();
  const { clock, decider, wait } = stage({ copies });
  copies.replicaSets.remove(WEB_SET);
  const gone = new AbortController();
  const late = decider.decide(requestOf("1"), gone.signal);
  const last = decider.decide(requestOf("2"), SIGNAL);
  gone.abort();
  assert.deepEqual(await late, { unplaced: "TimedOut" });
  decider.close();
  copies.replicaSets.put(WEB_SET);
  await wait(50);
  assert.deepEqual(await last, { unplaced: "NoLeader" });
  assert.deepEqual(await decider.decide(requestOf("3"), SIGNAL), { unplaced: "NoLeader" });
  assert.deepEqual([decider.reserved, clock.monotonic()], [0, 50]);
});

Deno.test("createAdmissionDecider() decides nothing until it has seen what its predecessor did", async () => {
  const { ask, wait } = stage({ settleMs: 2000 });
  await wait(1999);
  assert.deepEqual(await ask(), { unplaced: "LeaderUnsettled" });
  await wait(1);
  assert.deepEqual(await ask(), { class: "on-demand", deletionCost: -1 });
});

Deno.test("createAdmissionDecider() leaves alone who takes no part, whose words are wrong, or is pinned", async () => {
  const copies = manualCaches();
  const { ask, decider } = stage({ copies });
  const enabled = webDeployment(10);
  const wrong = webDeployment(10, { "spotalis.io/spot-percentage": "half" });
  copies.deployments.put(wrong);
  const decision = await ask();
  assert.ok("unplaced" in decision && decision.unplaced === "ConfigurationError");
  assert.match(decision.warning ?? "", /Deployment web .*spot-percentage .* is "half"/);
  copies.deployments.put({ ...enabled, metadata: { ...enabled.metadata, labels: {} } });
  assert.deepEqual(await ask(), { unplaced: "NotPlaced" });
  copies.deployments.put(enabled);
  const pinned = { ...requestOf("pinned"), pinned: true as const };
  assert.deepEqual(await decider.decide(pinned, SIGNAL), { unplaced: "NodesBound" });
  copies.pods.synced = false;
  assert.deepEqual(await ask(), { unplaced: "NotSynced" });
  assert.equal(decider.reserved, 0);
});

Deno.test("createAdmissionDecider() sends a pod to the node of its volume, and keeps its place", async () => {
  const spec = { volumes: [{ name: "d", persistentVolumeClaim: { claimName: "data" } }] };
  const term = [{ key: "kubernetes.io/hostname", operator: "In", values: ["s0"] }] as const;
  for (const phase of ["none", "fallback"] as const) {
    const { ask, short, copies, decider } = stage();
    const metadata = { name: "s0", uid: "s0", resourceVersion: "1" };
    copies.nodes.put({ metadata, labels: { "karpenter.sh/capacity-type": "spot" } });
    copies.volumes.put({ metadata, claim: "shop/data", nodes: [term] });
    short(phase);
    // The first ordinal is on-demand otherwise.
    const db = await ask({ owner: DB_OWNER, metadata: { name: "db-0" }, spec });
    assert.deepEqual(db, { class: "spot" });
    assert.deepEqual(await ask({ spec }), { class: "spot", deletionCost: -2 });
    assert.equal(decider.reserved, 2);
  }
});

function gateStage(spec: Parameters<typeof podRequest>[1] = {}) {
  const copies = manualCaches();
  const request = placementRequest(podRequest("1", spec));
  assert.ok(request !== undefined);
  const view = createWebhookView(copies, { rules: () => PLACEMENT_RULES });
  return {
    copies,
    gate: () => admissionGate(request, { view, ...PLACEMENT_RULES }),
    ask: (more: Partial<PlacementRequest>) =>
      admissionGate({ ...request, ...more }, { view, ...PLACEMENT_RULES }),
    wait: (options: Parameters<typeof untilKnown>[2]) => untilKnown(request, view, options),
  };
}

const onlyOf = (gate: AdmissionGate) => "only" in gate ? gate.only : undefined;

Deno.test("admissionGate() answers with the spec of a workload that takes part", () => {
  const answer = gateStage().gate();
  assert.deepEqual(answer.spec, { spotPercentage: 70, minOnDemand: 0, paused: false });
});

Deno.test("admissionGate() says no to a namespace that opts out, and nothing where it is not known", () => {
  const { gate, copies } = gateStage();
  const { metadata } = SHOP;
  copies.namespaces.put({
    metadata: { ...metadata, labels: { "spotalis.io/enabled": "false" } },
  });
  assert.deepEqual(gate(), { unplaced: "NotPlaced" });
  copies.namespaces.remove(SHOP);
  assert.deepEqual(gate(), { unplaced: "CopyBehind" });
});

Deno.test("admissionGate() leaves a pod with a volume that no class reaches, else tells which it is", () => {
  const { gate, ask, copies } = gateStage({
    spec: { volumes: [{ name: "d", persistentVolumeClaim: { claimName: "data" } }] },
  });
  const isPlaced = () => gate().spec !== undefined;
  // A claim without a volume gets one where its first pod runs.
  assert.ok(isPlaced());
  const metadata = { name: "pv", uid: "pv", resourceVersion: "1" };
  const onto = (key: string, value: string) => {
    const term = [{ key, operator: "In", values: [value] }] as const;
    copies.volumes.put({ metadata, claim: "shop/data", nodes: [term] });
  };
  onto("zone", "a");
  assert.deepEqual([isPlaced(), onlyOf(gate())], [true, undefined]);
  assert.deepEqual(onlyOf(ask({ only: "on-demand" })), "on-demand");
  onto("karpenter.sh/capacity-type", "spot");
  assert.deepEqual([isPlaced(), onlyOf(gate())], [true, "spot"]);
  // Its affinity names hosts of the other class, or it names its class itself.
  assert.deepEqual(ask({ only: "on-demand" }), { unplaced: "NodesBound" });
  assert.deepEqual(ask({ pinned: true }), { unplaced: "NodesBound" });
  onto("kubernetes.io/hostname", "gone");
  assert.deepEqual(gate(), { unplaced: "NodesBound" });
  copies.namespaces.put({
    metadata: { ...SHOP.metadata, labels: { "spotalis.io/enabled": "false" } },
  });
  assert.deepEqual(gate(), { unplaced: "NotPlaced" });
});

Deno.test("untilKnown() ends when the owner is known, the time is over, or nobody waits", async () => {
  const clock = createVirtualClock({ wallStart: 0 });
  const { copies, wait } = gateStage();
  const gone = new AbortController();
  await wait({ clock, signal: gone.signal, withinMs: 50 });
  assert.equal(clock.monotonic(), 0);
  copies.replicaSets.remove(WEB_SET);
  const ended: string[] = [];
  const waits = [
    wait({ clock, signal: gone.signal, withinMs: 500 }).then(() => ended.push("gone")),
    wait({ clock, signal: new AbortController().signal, withinMs: 20 }).then(() =>
      ended.push("late")
    ),
    wait({ clock, signal: new AbortController().signal, withinMs: 500 }).then(() =>
      ended.push("known")
    ),
  ];
  await clock.runUntil(20);
  assert.deepEqual(ended, ["late"]);
  gone.abort();
  await clock.runUntil(30);
  assert.deepEqual(ended, ["late", "gone"]);
  copies.namespaces.put(SHOP);
  await clock.runUntil(40);
  assert.deepEqual(ended, ["late", "gone"]);
  copies.replicaSets.put(WEB_SET);
  await Promise.all(waits);
  assert.deepEqual(ended, ["late", "gone", "known"]);
});
