import assert from "node:assert/strict";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import type { AdmissionRequest } from "../../shared/admission/admission_review.ts";
import { applyJSONPatch } from "../../tests/fixtures/webhook/apply_json_patch.ts";
import { runMutators } from "../../shared/admission/run_mutators.ts";
import { silentLog } from "../../shared/log.ts";
import {
  type PlacementDecision,
  placementPatch,
  placementRequest,
} from "../../shared/placement/new_pod.ts";
import type { ShortagePhase } from "../../shared/placement/shortage.ts";
import { sampleNode } from "../../tests/contract/support/sample_objects.ts";
import {
  DB_OWNER,
  dbStatefulSet,
  manualCaches,
  podRequest,
  SHOP,
  storedPod,
  WEB_SET,
  webDeployment,
} from "../../tests/fixtures/placement/placement_caches.ts";
import { PLACEMENT_DEFAULTS } from "../../tests/fixtures/placement/placement_defaults.ts";
import { createPodCreationMutator } from "../rightsizing/pod_creation.ts";
import { createAdmissionDecider } from "./admission.ts";
import { createWebhookView } from "./caches.ts";
import { createPlacementMutator } from "./mutators.ts";
import type { AdmissionReport } from "./ports.ts";

const { nodeClassifier: classes } = PLACEMENT_DEFAULTS;
const SIGNAL = new AbortController().signal;

type Changes = Parameters<typeof podRequest>[1];

async function stage({ caches = manualCaches(), readOnly = false, settled = true } = {}) {
  const clock = createVirtualClock({ wallStart: 0 });
  const current = { shortage: "none" as ShortagePhase };
  const settings = () => ({ ...PLACEMENT_DEFAULTS, readOnlyMode: readOnly });
  const decider = createAdmissionDecider({
    view: createWebhookView(caches, { settings, evicted: new Set() }),
    settings,
    shortageOf: () => current.shortage,
    clock,
  });
  if (settled) await clock.runUntil(2000);
  let asked = 0;
  const ask = (changes: Changes = {}, signal = SIGNAL): Promise<PlacementDecision> => {
    const request = placementRequest(podRequest(`${++asked}`, changes));
    assert.ok(request !== undefined);
    return decider.decide(request, signal);
  };
  return {
    ...{ caches, decider, current, ask },
    /** Class and cost of each pod, `spot-2` for instance, or why it is not placed. */
    async decisions(...pods: readonly Changes[]): Promise<string> {
      const found: string[] = [];
      for (const pod of pods) {
        const one = await ask(pod);
        found.push("class" in one ? `${one.class}${one.deletionCost ?? ""}` : one.unplaced);
      }
      return found.join(" ");
    },
    wait: (ms: number) => clock.runUntil(clock.monotonic() + ms),
  };
}

const dbPod = (name: string): Changes => ({ owner: DB_OWNER, metadata: { name } });

Deno.test("createAdmissionDecider() ends a reservation when its pod is observed, or expires", async () => {
  const { ask, decisions, caches, wait } = await stage();
  const decision = await ask();
  assert.ok("class" in decision);
  const request = podRequest("1");
  const patch = placementPatch(request.object!, { to: decision.class, classes });
  const pod = storedPod(request, { name: "web-5f-a", patch });
  caches.pods.put(pod);
  // The pod exists, so the next one is the second.
  assert.equal(await decisions({}), "spot-2");
  caches.pods.put({ ...pod, nodeName: "n1" });
  caches.pods.put(storedPod(request, { name: "web-5f-unadmitted" }));
  assert.equal(await decisions({}), "spot-3");
  // A pod that is gone before the next is created.
  caches.pods.remove(pod);
  caches.pods.remove(storedPod(request, { name: "web-5f-unadmitted" }));
  await wait(30_000);
  assert.equal(await decisions({}), "on-demand-1");
});

Deno.test("createAdmissionDecider() reserves nothing for a dry run, or in read-only mode", async () => {
  for (const readOnly of [true, false]) {
    const { decisions } = await stage({ readOnly });
    const dryRun = { dryRun: !readOnly };
    assert.equal(await decisions(dryRun, dryRun, dryRun), "on-demand-1 on-demand-1 on-demand-1");
  }
});

Deno.test("createAdmissionDecider() decides the same for a pod that carries its decision", async () => {
  const { decisions } = await stage();
  const carrying = (capacity: string, cost: number): Changes => ({
    metadata: {
      generateName: "web-5f-",
      labels: { "pod-template-hash": "5f", "spotalis.io/capacity": capacity },
      annotations: { "controller.kubernetes.io/pod-deletion-cost": `${cost}` },
    },
  });
  assert.equal(await decisions({}, {}, carrying("spot", -2)), "on-demand-1 spot-2 spot-2");
  // A template that carries a decision of its own changes nothing.
  assert.equal(await decisions(carrying("on-demand", -77)), "spot-3");
});

Deno.test("createAdmissionDecider() goes by ordinals, counts each revision by itself, and heeds a shortage", async () => {
  const { decisions, current } = await stage();
  const db = await decisions(...["db-9", "db-2", "db-3", "db-0"].map(dbPod));
  assert.equal(db, "spot on-demand spot on-demand");
  const newer = { metadata: { labels: { "pod-template-hash": "6a" } } };
  assert.equal(await decisions({}, newer), "on-demand-1 on-demand-1");
  current.shortage = "fallback";
  assert.equal(await decisions({}, {}), "on-demand-4 on-demand-7");
});

Deno.test("createAdmissionDecider() waits for an owner or the replicas that caches don't have yet", async () => {
  const caches = manualCaches({ statefulSet: dbStatefulSet(2) });
  const { decisions, wait } = await stage({ caches });
  caches.replicaSets.remove(WEB_SET);
  const early = Promise.all([decisions({}), decisions({}), decisions(dbPod("db-2"))]);
  await wait(49);
  caches.replicaSets.put(WEB_SET);
  caches.statefulSets.put(dbStatefulSet(10));
  await wait(0);
  assert.deepEqual(await early, ["on-demand-1", "spot-2", "on-demand"]);
  caches.replicaSets.remove(WEB_SET);
  const third = decisions({});
  // A namespace alone does not help.
  await wait(20);
  caches.namespaces.put(SHOP);
  await wait(30);
  assert.equal(await third, "CopyBehind");
});

Deno.test("createAdmissionDecider() decides nothing once no server waits, after its end, or before it has settled", async () => {
  const { ask, decisions, caches, decider, wait } = await stage();
  caches.replicaSets.remove(WEB_SET);
  const gone = new AbortController();
  const [late, last] = [ask({}, gone.signal), decisions({})];
  gone.abort();
  assert.deepEqual(await late, { unplaced: "TimedOut" });
  decider.close();
  caches.replicaSets.put(WEB_SET);
  await wait(50);
  assert.equal(await last, "NoLeader");
  assert.equal(await decisions({}), "NoLeader");
  const next = await stage({ settled: false });
  await next.wait(1999);
  assert.equal(await next.decisions({}), "LeaderUnsettled");
  await next.wait(1);
  assert.equal(await next.decisions({}), "on-demand-1");
});

Deno.test("createAdmissionDecider() leaves pods that take no part, are invalid or not known", async () => {
  const { ask, decisions, caches, wait } = await stage();
  const enabled = webDeployment(10);
  caches.deployments.put(webDeployment(10, { "spotalis.io/spot-percentage": "half" }));
  const decision = await ask();
  assert.ok("unplaced" in decision && decision.unplaced === "ConfigurationError");
  assert.match(decision.warning ?? "", /Deployment web .*spot-percentage .* is "half"/);
  caches.deployments.put({ ...enabled, metadata: { ...enabled.metadata, labels: {} } });
  assert.equal(await decisions({}), "NotPlaced");
  caches.deployments.put(enabled);
  const bound = { spec: affinityTo("karpenter.sh/capacity-type", "spot") };
  assert.equal(await decisions(bound), "NodesBound");
  const labels = { "spotalis.io/enabled": "false" };
  caches.namespaces.put({ metadata: { ...SHOP.metadata, labels } });
  assert.equal(await decisions(bound), "NotPlaced");
  caches.namespaces.remove(SHOP);
  const unknown = decisions({});
  await wait(50);
  assert.equal(await unknown, "CopyBehind");
  caches.pods.synced = false;
  assert.equal(await decisions({}), "NotSynced");
});

function affinityTo(key: string, ...values: readonly string[]) {
  const nodeSelectorTerms = [{ matchExpressions: [{ key, operator: "In", values }] }];
  const requiredDuringSchedulingIgnoredDuringExecution = { nodeSelectorTerms };
  return { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution } } };
}

Deno.test("createAdmissionDecider() sends a pod to the nodes of its volume and affinity, in a fallback too", async () => {
  const volumes = [{ name: "d", persistentVolumeClaim: { claimName: "data" } }];
  const host = "kubernetes.io/hostname";
  for (const phase of ["none", "fallback"] as const) {
    const { decisions, current, caches } = await stage();
    current.shortage = phase;
    for (const [name, one] of [["s0", "spot"], ["s1", "spot"], ["o0", "on-demand"]] as const) {
      const labels = { "karpenter.sh/capacity-type": one };
      const metadata = { name, uid: name, resourceVersion: "1" };
      caches.nodes.put({ ...sampleNode(name), metadata, labels });
    }
    const onto = (key: string, value: string) =>
      caches.volumes.put({
        metadata: { name: "pv", uid: "pv", resourceVersion: "1" },
        claim: "shop/data",
        nodes: [[{ key, operator: "In", values: [value] }]],
      });
    onto(host, "s0");
    // The first ordinal is on-demand otherwise.
    assert.equal(await decisions({ ...dbPod("db-0"), spec: { volumes } }), "spot");
    assert.equal(await decisions({ spec: { volumes } }), "spot-2");
    assert.equal(await decisions({ spec: { volumes, ...affinityTo(host, "o0") } }), "NodesBound");
    assert.equal(await decisions({ spec: affinityTo(host, "o0", "gone") }), "on-demand-1");
    onto("zone", "a");
    assert.equal(await decisions({ spec: { volumes, ...affinityTo(host, "s0") } }), "spot-3");
  }
});

const SPOT: PlacementDecision = { class: "spot", deletionCost: -2 };
const FAULTY = "ConfigurationError";

function decisionStage(decision: PlacementDecision | Error, { readOnly = false } = {}) {
  const reports: AdmissionReport[] = [];
  const mutator = createPlacementMutator({
    decider: {
      decide: () =>
        decision instanceof Error ? Promise.reject(decision) : Promise.resolve(decision),
    },
    settings: () => ({ ...PLACEMENT_DEFAULTS, readOnlyMode: readOnly }),
    observer: { admitted: (one) => reports.push(one) },
    clock: createVirtualClock({ wallStart: 0 }),
    log: silentLog,
  });
  return {
    mutator,
    mutate: async (request: AdmissionRequest) => await mutator.mutate(request, SIGNAL),
    results: () => reports.map(({ result, class: to }) => to === undefined ? result : [result, to]),
  };
}

Deno.test("createPlacementMutator() leaves the pod and reports why, with a warning if there is one", async () => {
  const warning = "it is wrong";
  const { object, ...request } = podRequest("1");
  const rows = [
    [decisionStage({ unplaced: "NoLeader" }), podRequest("1"), ["NoLeader"]],
    [decisionStage({ unplaced: FAULTY, warning }), podRequest("1"), [FAULTY]],
    [decisionStage(SPOT, { readOnly: true }), podRequest("1"), [["ReadOnly", "spot"]]],
    [decisionStage(new RangeError("a fault")), podRequest("1"), ["Failed"]],
    [decisionStage(SPOT), { ...request, object: { ...object, spec: null } }, ["Failed"]],
    // No new pods of a controller.
    [decisionStage(SPOT), { ...podRequest("1"), operation: "UPDATE" }, []],
    [decisionStage(SPOT), { ...podRequest("1"), resource: "pods/eviction" }, []],
    [decisionStage(SPOT), { ...podRequest("1"), object: { metadata: {} } }, []],
  ] as const;
  for (const [{ mutate, results }, sent, expected] of rows) {
    const mutation = await mutate(sent as AdmissionRequest);
    const warned = { patch: [], warnings: [warning] };
    assert.deepEqual(mutation, expected[0] === FAULTY ? warned : undefined);
    assert.deepEqual(results(), expected);
  }
});

Deno.test("rightsizing and placement change disjoint fields of a pod, in either order", async () => {
  const clock = createVirtualClock({ wallStart: 0 });
  const { mutator: placement } = decisionStage(SPOT);
  const rightsizing = createPodCreationMutator(() => () =>
    new Map([["app", { requests: { cpu: 180 }, limits: {} }]])
  );
  const request = podRequest("1", {
    spec: { containers: [{ name: "app", resources: { requests: { cpu: "100m" } } }] },
  });
  const changed = async (...mutators: readonly typeof placement[]): Promise<unknown> => {
    const answer = await runMutators(request, mutators, { clock, withinMs: 200 });
    assert.deepEqual([answer.warnings, answer.failures], [[], []]);
    const paths = answer.patch.map(({ path }) => path);
    const isWithin = (path: string, other: string) =>
      path !== other && `${path}/`.startsWith(`${other}/`);
    assert.equal(new Set(paths).size, paths.length);
    assert.ok(!paths.some((path) => paths.some((other) => isWithin(path, other))), paths.join());
    return applyJSONPatch(request.object, answer.patch);
  };
  const both = await changed(rightsizing, placement);
  assert.deepEqual(await changed(placement, rightsizing), both);
  assert.deepEqual(both, {
    metadata: {
      ...(request.object?.["metadata"] as object),
      labels: { "pod-template-hash": "5f", "spotalis.io/capacity": "spot" },
      annotations: { "controller.kubernetes.io/pod-deletion-cost": "-2" },
    },
    spec: {
      containers: [{ name: "app", resources: { requests: { cpu: "180m" } } }],
      nodeSelector: { "karpenter.sh/capacity-type": "spot" },
    },
  });
});
