/** What placement reads of pods, nodes and workloads, and the kinds that it alone reads. */
import assert from "node:assert/strict";
import { serveCanned } from "../../tests/fixtures/canned_server.ts";
import { parseNodeTerms } from "./node_terms.ts";
import { parseNode } from "./nodes.ts";
import { parsePersistentVolume, persistentVolumeListWatch } from "./persistent_volumes.ts";
import {
  parsePodDisruptionBudget,
  podDisruptionBudgetListWatch,
} from "./pod_disruption_budgets.ts";
import { parsePod } from "./pods.ts";
import { parseReplicaSet, replicaSetListWatch } from "./replica_sets.ts";
import { parseWorkload } from "./workloads.ts";

const identity = { name: "a", uid: "u", resourceVersion: "1" };
const namespaced = { ...identity, namespace: "shop" };

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const zoneTerm = { matchExpressions: [{ key: "zone", operator: "In", values: ["a", ""] }] };

pure("parsePod() reads where the pod may run, and since when it waits", () => {
  const pod = parsePod({
    metadata: { ...namespaced, creationTimestamp: "2026-01-01T00:00:00Z" },
    spec: {
      nodeSelector: { "karpenter.sh/capacity-type": "spot" },
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [zoneTerm] },
        },
      },
      volumes: [{ emptyDir: {} }, { persistentVolumeClaim: { claimName: "data" } }],
    },
    status: {
      qosClass: "Burstable",
      conditions: [{
        type: "PodScheduled",
        status: "False",
        reason: "Unschedulable",
        lastTransitionTime: "2026-01-01T00:00:05Z",
      }],
    },
  });
  assert.equal(pod.createdAtMs, Date.UTC(2026, 0, 1));
  assert.deepEqual(pod.nodeSelector, { "karpenter.sh/capacity-type": "spot" });
  assert.deepEqual(pod.requiredNodes, [[{ key: "zone", operator: "In", values: ["a", ""] }]]);
  assert.deepEqual(pod.claims, ["data"]);
  assert.equal(pod.unschedulableSinceMs, Date.UTC(2026, 0, 1, 0, 0, 5));
});

pure("parsePod() keeps no word of placement for a pod that says none", () => {
  const gated = { type: "PodScheduled", status: "False", reason: "SchedulingGated" };
  const pod = parsePod({
    metadata: namespaced,
    spec: { nodeSelector: {}, volumes: [{ emptyDir: {} }], affinity: { podAffinity: {} } },
    status: { qosClass: "BestEffort", conditions: [gated, 5] },
  });
  for (
    const name of ["createdAtMs", "nodeSelector", "requiredNodes", "claims", "unschedulableSinceMs"]
  ) {
    assert.ok(!(name in pod), name);
  }
});

pure("parseNodeTerms() reads names as hosts, and what it does not know as what no node has", () => {
  assert.equal(parseNodeTerms(undefined), undefined);
  assert.equal(parseNodeTerms({}), undefined);
  const byName = { key: "metadata.name", operator: "In", values: ["n1"] };
  assert.deepEqual(parseNodeTerms({ nodeSelectorTerms: [{ matchFields: [byName] }] }), [
    [{ key: "kubernetes.io/hostname", operator: "In", values: ["n1"] }],
  ]);
  const odd = [{ ...byName, operator: "Like" }, { operator: "In" }, 5];
  for (const one of odd) {
    const terms = [{ matchExpressions: [{ key: "zone", operator: "Exists" }, one] }];
    assert.deepEqual(parseNodeTerms({ nodeSelectorTerms: terms }), [[]]);
  }
});

pure("parseNode() reads labels, cordon, taints, and conditions that are none of its others", () => {
  const node = parseNode({
    metadata: { ...identity, labels: { zone: "a" } },
    spec: {
      unschedulable: true,
      taints: [{ key: "gone", effect: "NoSchedule" }, { key: "k", value: "v", effect: "x" }, {}],
    },
    status: {
      conditions: [
        { type: "Ready", status: "True" },
        { type: "DiskPressure", status: "True" },
        { type: "PreemptScheduled", status: "True" },
        { type: "FreezeScheduled", status: "False" },
      ],
    },
  });
  assert.deepEqual(node.labels, { zone: "a" });
  assert.equal(node.cordoned, true);
  assert.deepEqual(node.taints, [
    { key: "gone", value: "", effect: "NoSchedule" },
    { key: "k", value: "v", effect: "x" },
  ]);
  assert.deepEqual(node.alarms, ["PreemptScheduled"]);
  const plain = parseNode({ metadata: identity });
  for (const name of ["labels", "cordoned", "taints", "alarms"]) assert.ok(!(name in plain), name);
});

pure("parseWorkload() reads how many pods there are, and placement's annotations", () => {
  const raw = {
    metadata: {
      ...namespaced,
      generation: 4,
      annotations: { "spotalis.io/spot-percentage": "70", other: "x" },
    },
    spec: { replicas: 5, ordinals: { start: 2 } },
    status: { observedGeneration: 4, replicas: 5, readyReplicas: 4, updatedReplicas: 3 },
  };
  const { replicas, metadata } = parseWorkload(raw, "StatefulSet");
  assert.deepEqual(replicas, {
    wanted: 5,
    observed: true,
    present: 5,
    ready: 4,
    updated: 3,
    firstOrdinal: 2,
  });
  assert.deepEqual(metadata.annotations, { "spotalis.io/spot-percentage": "70" });
  const late = { ...raw, status: { ...raw.status, observedGeneration: 3 } };
  assert.equal(parseWorkload(late, "Deployment").replicas?.observed, false);
  const over = { ...raw, status: { ...raw.status, currentRevision: "r", updateRevision: "r" } };
  assert.equal(parseWorkload(over, "StatefulSet").replicas?.updated, 5);
  assert.ok(!("replicas" in parseWorkload(raw, "DaemonSet")));
  const odd = { ...raw, spec: { replicas: "5" } };
  assert.ok(!("replicas" in parseWorkload(odd, "Deployment")));
});

pure("parseReplicaSet() reads the Deployment that controls it, and no other owner", () => {
  const owned = (owner: object): unknown => ({
    metadata: { ...namespaced, ownerReferences: [owner] },
  });
  const owner = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    name: "web",
    uid: "d",
    controller: true,
  };
  assert.deepEqual(parseReplicaSet(owned(owner)), {
    metadata: namespaced,
    deployment: { name: "web", uid: "d" },
  });
  const others = [
    { ...owner, controller: false },
    { ...owner, apiVersion: "argoproj.io/v1alpha1", kind: "Rollout" },
    { ...owner, apiVersion: "example.com/v1" },
  ];
  for (const other of others) {
    assert.deepEqual(parseReplicaSet(owned(other)), { metadata: namespaced });
  }
  assert.throws(() => parseReplicaSet({}), TypeError);
});

pure("parsePodDisruptionBudget() reads whom it is for, and what it allows", () => {
  const raw = {
    metadata: { ...namespaced, generation: 2 },
    spec: { minAvailable: 1, selector: { matchLabels: { app: "web" } } },
    status: { observedGeneration: 2, disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1 },
  };
  const budget = parsePodDisruptionBudget(raw);
  assert.deepEqual(budget, {
    metadata: namespaced,
    selector: { matchLabels: { app: "web" }, matchExpressions: [] },
    disruptionsAllowed: 1,
    current: true,
    freesUnready: true,
  });
  const change = (spec: object, status: object) =>
    parsePodDisruptionBudget({
      ...raw,
      spec: { ...raw.spec, ...spec },
      status: { ...raw.status, ...status },
    });
  assert.equal(change({}, { currentHealthy: 0 }).freesUnready, false);
  assert.equal(change({}, { desiredHealthy: 0 }).freesUnready, false);
  const always = { unhealthyPodEvictionPolicy: "AlwaysAllow" };
  assert.equal(change(always, { currentHealthy: 0 }).freesUnready, true);
  assert.equal(change({}, { observedGeneration: 1 }).current, false);
  assert.ok(!("selector" in change({ selector: null }, {})));
  assert.deepEqual(change({ selector: {} }, {}).selector, {
    matchLabels: {},
    matchExpressions: [],
  });
});

pure("parsePodDisruptionBudget() lets nobody go by a budget that can't be read", () => {
  const odd = [
    { spec: { selector: { matchExpressions: [{ key: "a", operator: "Like" }] } } },
    { spec: { selector: {} }, status: { disruptionsAllowed: "all" } },
    { spec: 5 },
  ];
  for (const one of odd) {
    const budget = parsePodDisruptionBudget({ metadata: namespaced, ...one });
    assert.match(budget.unreadable ?? "", /^Cannot read/);
    assert.deepEqual([budget.disruptionsAllowed, budget.current], [0, false]);
    assert.deepEqual(budget.selector, { matchLabels: {}, matchExpressions: [] });
  }
});

pure("parsePersistentVolume() reads its claim and its nodes", () => {
  const spec = {
    claimRef: { namespace: "shop", name: "data" },
    nodeAffinity: { required: { nodeSelectorTerms: [zoneTerm] } },
  };
  assert.deepEqual(parsePersistentVolume({ metadata: identity, spec }), {
    metadata: identity,
    claim: "shop/data",
    nodes: [[{ key: "zone", operator: "In", values: ["a", ""] }]],
  });
  assert.deepEqual(parsePersistentVolume({ metadata: identity, spec: {} }), { metadata: identity });
  // Its claim is gone, and another one of that name has nothing to do with it.
  const released = { metadata: identity, spec, status: { phase: "Released" } };
  assert.equal(parsePersistentVolume(released).claim, undefined);
});

Deno.test("the kinds of placement are listed where the server has them", async () => {
  await using server = serveCanned(() => ({ metadata: { resourceVersion: "1" }, items: [] }));
  const { signal } = new AbortController();
  for (
    const source of [
      replicaSetListWatch(server.connection),
      podDisruptionBudgetListWatch(server.connection),
      persistentVolumeListWatch(server.connection),
    ]
  ) {
    await source.list(signal);
  }
  assert.deepEqual(server.requests.map(({ path }) => path), [
    "/apis/apps/v1/replicasets",
    "/apis/policy/v1/poddisruptionbudgets",
    "/api/v1/persistentvolumes",
  ]);
});
