import assert from "node:assert/strict";
import { sampleNode } from "../../tests/contract/support/sample_objects.ts";
import { NODE_CLASS_PRESETS, type NodeClass, type NodeClassPreset } from "./node_classes.ts";
import {
  allowedClasses,
  type KnownNodes,
  knownNodes,
  namesClass,
  pinnedBy,
  selectorConstraints,
  sentNodeConstraints,
  volumeConstraints,
} from "./node_constraints.ts";
import type { NodeRequirement } from "../api/node.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const { karpenter, eks, gke, aks } = NODE_CLASS_PRESETS;
const TYPE = "karpenter.sh/capacity-type";
const HOST = "kubernetes.io/hostname";
const POOL = "eks.amazonaws.com/nodegroup";
const HOSTS = new Map<string, NodeClass>([["s1", "spot"], ["o1", "on-demand"]]);
const NODES: KnownNodes = {
  hostClass: (host) => HOSTS.get(host),
  poolClass: (key, value) => key === POOL ? HOSTS.get(value) : undefined,
};
const OPTIONS = { to: "spot", classes: karpenter, nodes: NODES } as const;

function requirement(
  key: string,
  operator: NodeRequirement["operator"],
  ...values: readonly string[]
): NodeRequirement {
  return { key, operator, values };
}

/** Asserts to which classes an affinity with these terms lets a pod move. */
function assertAllowed(
  terms: readonly (readonly NodeRequirement[])[],
  allowed: readonly NodeClass[],
  preset: NodeClassPreset = "karpenter",
): void {
  const options = { classes: NODE_CLASS_PRESETS[preset], nodes: NODES };
  const found = allowedClasses([{ what: "its affinity", terms }], options);
  assert.deepEqual(found, allowed, JSON.stringify(terms));
}

const BOTH: readonly NodeClass[] = ["spot", "on-demand"];

test("pinnedBy() heeds the annotations that protect from autoscalers", () => {
  const pinned = (annotations: Readonly<Record<string, string>>): string | undefined =>
    pinnedBy({ annotations, constraints: [] }, OPTIONS);
  const safe = "cluster-autoscaler.kubernetes.io/safe-to-evict";
  assert.match(pinned({ "karpenter.sh/do-not-disrupt": "true" }) ?? "", /karpenter.*is "true"/);
  assert.match(pinned({ [safe]: "false" }) ?? "", /safe-to-evict is "false"/);
  const free = [{}, { "karpenter.sh/do-not-disrupt": "false" }, { [safe]: "true" }];
  for (const annotations of free) assert.equal(pinned(annotations), undefined);
});

test("allowedClasses() heeds a required affinity: one term, and all its expressions", () => {
  const spot = requirement(TYPE, "In", "spot");
  const zone = requirement("topology.kubernetes.io/zone", "In", "a");
  assertAllowed([[spot]], ["spot"]);
  assertAllowed([[requirement(TYPE, "In", "spot", "on-demand")]], BOTH);
  assertAllowed([[requirement(TYPE, "NotIn", "on-demand")]], ["spot"]);
  assertAllowed([[requirement(TYPE, "DoesNotExist")]], []);
  assertAllowed([[requirement(TYPE, "Exists")]], BOTH);
  assertAllowed([[spot], [zone]], BOTH);
  assertAllowed([[spot, zone]], ["spot"]);
  assertAllowed([[zone, requirement("cores", "Gt", "3")]], BOTH);
  assertAllowed([[]], []);
});

test("allowedClasses() heeds hosts and pools of one class, and not empty or mixed pools", () => {
  const on = (key: string, ...values: readonly string[]) => [[requirement(key, "In", ...values)]];
  assertAllowed(on(HOST, "s1"), ["spot"]);
  assertAllowed(on(HOST, "s1", "o1"), BOTH);
  assertAllowed(on(HOST, "o1", "unknown"), ["on-demand"]);
  assertAllowed(on(POOL, "s1"), ["spot"]);
  assertAllowed(on(POOL, "s1", "o1"), BOTH);
  assertAllowed(on(POOL, "empty"), BOTH);
  assertAllowed(on("karpenter.sh/nodepool", "s1"), BOTH);
});

test("allowedClasses() infers what labels mean that the selector does not set", () => {
  const spotKey = "cloud.google.com/gke-spot";
  assertAllowed([[requirement(spotKey, "In", "true")]], ["spot"], "gke");
  assertAllowed([[requirement(spotKey, "Exists")]], ["spot"], "gke");
  assertAllowed([[requirement(spotKey, "NotIn", "true")]], ["on-demand"], "gke");
  const priority = "kubernetes.azure.com/scalesetpriority";
  assertAllowed([[requirement(priority, "In", "spot")]], ["spot"], "aks");
  assertAllowed([[requirement(priority, "DoesNotExist")]], ["on-demand"], "aks");
});

test("allowedClasses() has classes that all constraints allow, and pinnedBy() names the one that does not", () => {
  const to = (...hosts: readonly string[]) => ({
    what: `its volume of ${hosts}`,
    terms: [[requirement(HOST, "In", ...hosts)]],
  });
  assert.deepEqual(allowedClasses([], OPTIONS), BOTH);
  assert.deepEqual(allowedClasses([to("s1", "o1"), to("o1")], OPTIONS), ["on-demand"]);
  assert.deepEqual(allowedClasses([to("s1"), to("o1")], OPTIONS), []);
  const reason = pinnedBy({ annotations: {}, constraints: [to("s1", "o1"), to("o1")] }, OPTIONS);
  assert.match(reason ?? "", /^its volume of o1 .* spot/);
});

test("pinnedBy() heeds hosts and pools of a node selector, but not what is replaced of it", () => {
  const pinned = (selector: Readonly<Record<string, string>>, classes = eks) =>
    pinnedBy({ annotations: {}, constraints: selectorConstraints(selector) }, {
      ...OPTIONS,
      classes,
    });
  assert.match(pinned({ [POOL]: "o1" }) ?? "", /node selector.* spot/);
  assert.equal(pinned({ [POOL]: "s1" }), undefined);
  assert.notEqual(pinned({ [POOL]: "s1", [HOST]: "o1", zone: "a" }), undefined);
  assert.deepEqual(selectorConstraints({ zone: "a" }), []);
  const pools = (value: string) => ({
    selectors: [{ matchLabels: { [POOL]: value }, matchExpressions: [] }],
    tolerations: [],
  });
  const byPool = { spot: pools("s1"), "on-demand": pools("o1") };
  assert.equal(pinned({ [POOL]: "o1" }, byPool), undefined);
});

test("namesClass() is true of a class that is named, and not of hosts", () => {
  const names = (...terms: readonly (readonly NodeRequirement[])[]) =>
    namesClass([{ what: "its affinity", terms }], karpenter);
  assert.ok(names([requirement(TYPE, "In", "spot")]));
  assert.ok(names([requirement(TYPE, "NotIn", "spot")]));
  assert.ok(!names([requirement(TYPE, "In", "spot", "on-demand")]));
  assert.ok(!names([requirement(HOST, "In", "s1")]));
  assert.ok(!names([requirement(TYPE, "In", "spot")], [requirement("zone", "In", "a")]));
});

test("knownNodes() knows nodes by host label and by name", () => {
  const nodes = [
    { ...sampleNode("plain"), labels: { [TYPE]: "on-demand" } },
    { ...sampleNode("labelled"), labels: { [TYPE]: "spot", [HOST]: "ip-10-0-0-1" } },
  ];
  const known = knownNodes(() => nodes, karpenter);
  const found = ["ip-10-0-0-1", "labelled", "plain", "gone"].map((host) => known.hostClass(host));
  assert.deepEqual(found, ["spot", "spot", "on-demand", undefined]);
});

test("knownNodes() has no class for nodes to which no selector sends a pod", () => {
  const preemptible = { "cloud.google.com/gke-provisioning": "preemptible" };
  const nodes = [sampleNode("plain"), { ...sampleNode("old"), labels: preemptible }];
  const classesOf = (classes: typeof gke) =>
    ["plain", "old"].map((host) => knownNodes(() => nodes, classes).hostClass(host));
  assert.deepEqual(classesOf(gke), [undefined, undefined]);
  // Without a selector, on-demand pods may run on any other node.
  assert.deepEqual(classesOf(aks), ["on-demand", "on-demand"]);
});

test("knownNodes() knows pools with nodes of one class only", () => {
  const pools = [["steady", "ON_DEMAND"], ["cheap", "SPOT"], ["cheap", "SPOT"], ["mixed", "SPOT"]];
  const nodes = [...pools, ["mixed", "ON_DEMAND"]].map(([pool = "", type = ""]) => ({
    ...sampleNode(`${pool}-${type}`),
    labels: { [POOL]: pool, "eks.amazonaws.com/capacityType": type },
  }));
  const known = knownNodes(() => nodes, eks);
  const found = ["steady", "cheap", "mixed", "empty"].map((one) => known.poolClass(POOL, one));
  assert.deepEqual(found, ["on-demand", "spot", undefined, undefined]);
});

test("volumeConstraints() has those of existing volumes, by the namespace's claims", () => {
  const metadata = { name: "pv", uid: "pv", resourceVersion: "1" };
  const nodes = [[requirement("zone", "In", "a")]];
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

test("sentNodeConstraints() reads node selector and required node affinity", () => {
  const expression = { key: "zone", operator: "In", values: ["a", "b"] };
  const field = { key: "metadata.name", operator: "In", values: ["n1"] };
  const nodeSelectorTerms = [
    { matchExpressions: [expression, { key: "x", operator: "Exists" }] },
    { matchFields: [field] },
  ];
  const required = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } };
  const host = { ...field, key: HOST };
  const nodeSelector = { zone: "a", [HOST]: "n1" };
  const spec = { nodeSelector, affinity: { nodeAffinity: required } };
  assert.deepEqual(sentNodeConstraints({ spec }), [
    { what: "its node selector", terms: [[host]], selector: true },
    {
      what: "its node affinity",
      terms: [[expression, { key: "x", operator: "Exists", values: [] }], [host]],
    },
  ]);
  const preferred = { preferredDuringSchedulingIgnoredDuringExecution: [] };
  for (const affinity of [undefined, null, {}, { nodeAffinity: preferred }]) {
    const none = { affinity, nodeSelector: { zone: "a" } };
    assert.deepEqual(sentNodeConstraints({ spec: none }), []);
  }
});
