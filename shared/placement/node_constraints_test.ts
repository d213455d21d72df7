import assert from "node:assert/strict";
import {
  allowedClasses,
  type KnownNodes,
  knownNodes,
  namesClass,
  type NodeRequirement,
  pinnedBy,
  selectorConstraints,
  sentNodeConstraints,
  volumeConstraints,
} from "./node_constraints.ts";
import { NODE_CLASS_PRESETS, type NodeClass, type NodeClassPreset } from "./node_classes.ts";
import { sampleNode } from "../../tests/contract/sample_objects.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const TYPE = "karpenter.sh/capacity-type";
const HOSTS = new Map<string, NodeClass>([["s1", "spot"], ["o1", "on-demand"]]);
const POOL = "eks.amazonaws.com/nodegroup";
const NODES: KnownNodes = {
  hostClass: (host) => HOSTS.get(host),
  poolClass: (key, value) => key === POOL ? HOSTS.get(value) : undefined,
};

function requirement(
  key: string,
  operator: NodeRequirement["operator"],
  ...values: readonly string[]
): NodeRequirement {
  return { key, operator, values };
}

/** True where the terms, of which one is enough, let the pod go to the class. */
function mayGo(
  to: NodeClass,
  terms: readonly (readonly NodeRequirement[])[],
  preset: NodeClassPreset = "karpenter",
): boolean {
  const pod = { annotations: {}, constraints: [{ what: "its affinity", terms }] };
  const options = { to, classes: NODE_CLASS_PRESETS[preset], nodes: NODES };
  return pinnedBy(pod, options) === undefined;
}

test("pinnedBy() heeds the annotations that keep autoscalers away", () => {
  const pinned = (annotations: Readonly<Record<string, string>>): string | undefined =>
    pinnedBy({ annotations, constraints: [] }, {
      to: "spot",
      classes: NODE_CLASS_PRESETS.karpenter,
      nodes: NODES,
    });
  assert.equal(pinned({}), undefined);
  assert.match(pinned({ "karpenter.sh/do-not-disrupt": "true" }) ?? "", /karpenter.*is "true"/);
  assert.equal(pinned({ "karpenter.sh/do-not-disrupt": "false" }), undefined);
  const safe = "cluster-autoscaler.kubernetes.io/safe-to-evict";
  assert.match(pinned({ [safe]: "false" }) ?? "", /safe-to-evict is "false"/);
  assert.equal(pinned({ [safe]: "true" }), undefined);
});

test("pinnedBy() minds a required affinity for the class that the pod is on", () => {
  const toSpot = [[requirement(TYPE, "In", "spot")]];
  assert.equal(mayGo("on-demand", toSpot), false);
  assert.equal(mayGo("spot", toSpot), true);
  assert.equal(mayGo("on-demand", [[requirement(TYPE, "In", "spot", "on-demand")]]), true);
  assert.equal(mayGo("on-demand", [[requirement(TYPE, "NotIn", "on-demand")]]), false);
  assert.equal(mayGo("on-demand", [[requirement(TYPE, "DoesNotExist")]]), false);
  assert.equal(mayGo("on-demand", [[requirement(TYPE, "Exists")]]), true);
});

test("pinnedBy() lets one term of several be enough, and asks all expressions of a term", () => {
  const spot = requirement(TYPE, "In", "spot");
  const zone = requirement("topology.kubernetes.io/zone", "In", "a");
  assert.equal(mayGo("on-demand", [[spot], [zone]]), true);
  assert.equal(mayGo("on-demand", [[spot, zone]]), false);
  assert.equal(mayGo("on-demand", [[zone, requirement("cores", "Gt", "3")]]), true);
  assert.equal(mayGo("on-demand", [[]]), false);
});

test("pinnedBy() minds volumes of one host", () => {
  const on = (...hosts: readonly string[]) => [[
    requirement("kubernetes.io/hostname", "In", ...hosts),
  ]];
  assert.equal(mayGo("on-demand", on("s1")), false);
  assert.equal(mayGo("on-demand", on("s1", "o1")), true);
  assert.equal(mayGo("spot", on("o1", "unknown")), false);
});

test("pinnedBy() minds pools of one class, and not those that are empty or mixed", () => {
  const of = (...pools: readonly string[]) => [[requirement(POOL, "In", ...pools)]];
  assert.equal(mayGo("on-demand", of("s1")), false);
  assert.equal(mayGo("spot", of("s1")), true);
  assert.equal(mayGo("on-demand", of("s1", "o1")), true);
  assert.equal(mayGo("on-demand", of("empty")), true);
  assert.equal(mayGo("on-demand", [[requirement("karpenter.sh/nodepool", "In", "s1")]]), true);
});

test("pinnedBy() minds hosts and pools of a node selector, but not what is replaced of it", () => {
  const pinned = (selector: Readonly<Record<string, string>>, classes = NODE_CLASS_PRESETS.eks) =>
    pinnedBy({ annotations: {}, constraints: selectorConstraints(selector) }, {
      to: "spot",
      classes,
      nodes: NODES,
    });
  assert.match(pinned({ [POOL]: "o1" }) ?? "", /node selector.* spot/);
  assert.equal(pinned({ [POOL]: "s1" }), undefined);
  assert.equal(
    pinned({ [POOL]: "s1", "kubernetes.io/hostname": "o1", zone: "a" }) !== undefined,
    true,
  );
  assert.deepEqual(selectorConstraints({ zone: "a" }), []);
  const pools = (value: string) => ({
    selectors: [{ matchLabels: { [POOL]: value }, matchExpressions: [] }],
    tolerations: [],
  });
  const byPool = { spot: pools("s1"), "on-demand": pools("o1") };
  assert.equal(pinned({ [POOL]: "o1" }, { ...NODE_CLASS_PRESETS.eks, ...byPool }), undefined);
});

test("pinnedBy() knows what labels mean that the selector does not write", () => {
  const gke = "cloud.google.com/gke-spot";
  assert.equal(mayGo("on-demand", [[requirement(gke, "In", "true")]], "gke"), false);
  assert.equal(mayGo("on-demand", [[requirement(gke, "Exists")]], "gke"), false);
  assert.equal(mayGo("on-demand", [[requirement(gke, "NotIn", "true")]], "gke"), true);
  assert.equal(mayGo("spot", [[requirement(gke, "NotIn", "true")]], "gke"), false);
  const aks = "kubernetes.azure.com/scalesetpriority";
  assert.equal(mayGo("on-demand", [[requirement(aks, "In", "spot")]], "aks"), false);
  assert.equal(mayGo("on-demand", [[requirement(aks, "DoesNotExist")]], "aks"), true);
  assert.equal(mayGo("spot", [[requirement(aks, "DoesNotExist")]], "aks"), false);
});

test("pinnedBy() names the constraint that leaves out the class", () => {
  const constraints = [
    { what: "its affinity", terms: [[requirement(TYPE, "Exists")]] },
    { what: "its volume data", terms: [[requirement(TYPE, "In", "spot")]] },
  ];
  const options = { classes: NODE_CLASS_PRESETS.karpenter, nodes: NODES };
  const reason = pinnedBy({ annotations: {}, constraints }, { to: "on-demand", ...options });
  assert.match(reason ?? "", /its volume data .*on-demand/);
});

test("allowedClasses() has those that all constraints allow", () => {
  const options = { classes: NODE_CLASS_PRESETS.karpenter, nodes: NODES };
  const to = (...hosts: readonly string[]) => ({
    what: "its volume",
    terms: [[requirement("kubernetes.io/hostname", "In", ...hosts)]],
  });
  assert.deepEqual(allowedClasses([], options), ["spot", "on-demand"]);
  assert.deepEqual(allowedClasses([to("s1", "o1"), to("o1")], options), ["on-demand"]);
  assert.deepEqual(allowedClasses([to("s1"), to("o1")], options), []);
});

test("namesClass() is true of a class that is named, and not of hosts", () => {
  const names = (...terms: readonly (readonly NodeRequirement[])[]) =>
    namesClass([{ what: "its affinity", terms }], NODE_CLASS_PRESETS.karpenter);
  assert.ok(names([requirement(TYPE, "In", "spot")]));
  assert.ok(names([requirement(TYPE, "NotIn", "spot")]));
  assert.ok(!names([requirement(TYPE, "In", "spot", "on-demand")]));
  assert.ok(!names([requirement("kubernetes.io/hostname", "In", "s1")]));
  assert.ok(!names([requirement(TYPE, "In", "spot")], [requirement("zone", "In", "a")]));
});

test("knownNodes() knows nodes by their host's label and by their names", () => {
  const labels = {
    "karpenter.sh/capacity-type": "spot",
    "kubernetes.io/hostname": "ip-10-0-0-1",
  };
  const onDemand = { "karpenter.sh/capacity-type": "on-demand" };
  const nodes = [
    { ...sampleNode("plain"), labels: onDemand },
    { ...sampleNode("labelled"), labels },
  ];
  const known = knownNodes(() => nodes, NODE_CLASS_PRESETS.karpenter);
  assert.deepEqual(
    ["ip-10-0-0-1", "labelled", "plain", "gone"].map((host) => known.hostClass(host)),
    [
      "spot",
      "spot",
      "on-demand",
      undefined,
    ],
  );
});

test("knownNodes() has no class for nodes to which none of the selectors sends a pod", () => {
  const preemptible = { "cloud.google.com/gke-provisioning": "preemptible" };
  const nodes = [sampleNode("plain"), { ...sampleNode("old"), labels: preemptible }];
  const classOf = (host: string, preset: "gke" | "aks") =>
    knownNodes(() => nodes, NODE_CLASS_PRESETS[preset]).hostClass(host);
  assert.deepEqual([classOf("plain", "gke"), classOf("old", "gke")], [undefined, undefined]);
  // Where on-demand has no selector, nothing keeps its pods from any other node.
  assert.deepEqual([classOf("plain", "aks"), classOf("old", "aks")], ["on-demand", "on-demand"]);
});

test("knownNodes() knows pools whose nodes are all of one class", () => {
  const key = "eks.amazonaws.com/nodegroup";
  const node = (pool: string, type: string) => ({
    ...sampleNode(`${pool}-${type}`),
    labels: { [key]: pool, "eks.amazonaws.com/capacityType": type },
  });
  const nodes = [
    node("steady", "ON_DEMAND"),
    node("cheap", "SPOT"),
    node("cheap", "SPOT"),
    node("mixed", "SPOT"),
    node("mixed", "ON_DEMAND"),
  ];
  const known = knownNodes(() => nodes, NODE_CLASS_PRESETS.eks);
  assert.deepEqual(["steady", "cheap", "mixed", "empty"].map((one) => known.poolClass(key, one)), [
    "on-demand",
    "spot",
    undefined,
    undefined,
  ]);
});

test("volumeBounds() has those of volumes that there are, by the namespace's claims", () => {
  const metadata = { name: "pv", uid: "pv", resourceVersion: "1" };
  const nodes = [[{ key: "zone", operator: "In", values: ["a"] }]] as const;
  const volumes = [
    { metadata, claim: "shop/data", nodes },
    { metadata, claim: "shop/anywhere" },
    { metadata, claim: "bank/logs", nodes },
  ];
  const claims = ["data", "anywhere", "logs", "new"];
  const found = volumeConstraints(
    { namespace: "shop", claims },
    (claim) => volumes.filter((one) => one.claim === claim),
  );
  assert.deepEqual(found, [{ what: "its volume data", terms: nodes }]);
});

Deno.test("sentNodeBounds() reads the required node affinity", () => {
  const expression = { key: "zone", operator: "In", values: ["a", "b"] };
  const field = { key: "metadata.name", operator: "In", values: ["n1"] };
  const nodeSelectorTerms = [
    { matchExpressions: [expression, { key: "x", operator: "Exists" }] },
    { matchFields: [field] },
  ];
  const required = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } };
  const spec = { affinity: { nodeAffinity: required } };
  assert.deepEqual(sentNodeConstraints({ spec }), [{
    what: "its node affinity",
    terms: [[expression, { key: "x", operator: "Exists", values: [] }], [{
      ...field,
      key: "kubernetes.io/hostname",
    }]],
  }]);
});

Deno.test("sentNodeBounds() finds none where nothing is required", () => {
  const preferred = { preferredDuringSchedulingIgnoredDuringExecution: [] };
  for (const affinity of [undefined, null, {}, { nodeAffinity: preferred }]) {
    assert.deepEqual(sentNodeConstraints({ spec: { affinity } }), []);
  }
});

Deno.test("sentNodeBounds() reads the host that a node selector names", () => {
  const spec = { nodeSelector: { zone: "a", "kubernetes.io/hostname": "n1" } };
  const host = { key: "kubernetes.io/hostname", operator: "In", values: ["n1"] };
  assert.deepEqual(sentNodeConstraints({ spec }), [
    { what: "its node selector", terms: [[host]], selector: true },
  ]);
  assert.deepEqual(sentNodeConstraints({ spec: { nodeSelector: { zone: "a" } } }), []);
});
