import assert from "node:assert/strict";
import { sampleNode, samplePod } from "../../tests/contract/support/sample_objects.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { placedPods, sampleBudget } from "../../tests/fixtures/placement/placed_pods.ts";
import type { NodeRequirement } from "../api/node.ts";
import type { PodDisruptionBudget } from "../api/pod_disruption_budget.ts";
import {
  NODE_CLASS_PRESETS,
  type NodeClass,
  type NodeClasses,
  type NodeClassPreset,
} from "./node_classes.ts";
import {
  allowedClasses,
  budgetRefusal,
  budgetsFor,
  type KnownNodes,
  knownNodes,
  namesClass,
  pinnedBy,
  protectedBy,
  selectorConstraints,
  volumeConstraints,
} from "./node_constraints.ts";
import { refusalOf, valueOf } from "../config/kinds.ts";
import { settingOf } from "../config/setting.ts";
import {
  DEFAULT_DEPARTURE_SIGNS,
  DEPARTURE_PRESETS,
  departureOf,
  type DepartureSigns,
  departureSignsKind,
} from "./node_departure.ts";
import { PLACEMENT_SETTINGS } from "./settings.ts";
import { PLACEMENT_DEFAULTS } from "../../tests/fixtures/placement/placement_defaults.ts";
import { classifyPod, countByClass, runningByClass, waitingByClass } from "./placed_pod.ts";

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

pure("protectedBy() heeds the annotations that protect from autoscalers", () => {
  const safe = "cluster-autoscaler.kubernetes.io/safe-to-evict";
  assert.match(protectedBy({ [safe]: "false" }) ?? "", /safe-to-evict is "false"/);
  const free = [{}, { "karpenter.sh/do-not-disrupt": "false" }, { [safe]: "true" }];
  for (const annotations of free) assert.equal(protectedBy(annotations), undefined);
});

pure("allowedClasses() heeds a required affinity: hosts, pools, and what labels mean", () => {
  const spot = requirement(TYPE, "In", "spot");
  const zone = requirement("topology.kubernetes.io/zone", "In", "a");
  const on = (key: string, ...values: readonly string[]) => [[requirement(key, "In", ...values)]];
  const [spotKey, priority] = [
    "cloud.google.com/gke-spot",
    "kubernetes.azure.com/scalesetpriority",
  ];
  const rows: readonly Parameters<typeof assertAllowed>[] = [
    [[[spot]], ["spot"]],
    [on(TYPE, "spot", "on-demand"), BOTH],
    [[[requirement(TYPE, "NotIn", "on-demand")]], ["spot"]],
    [[[requirement(TYPE, "DoesNotExist")]], []],
    [[[requirement(TYPE, "Exists")]], BOTH],
    // One term, and all its expressions.
    [[[spot], [zone]], BOTH],
    [[[spot, zone]], ["spot"]],
    [[[zone, requirement("cores", "Gt", "3")]], BOTH],
    [[[]], []],
    [on(HOST, "s1"), ["spot"]],
    [on(HOST, "s1", "o1"), BOTH],
    [on(HOST, "o1", "unknown"), ["on-demand"]],
    [on(POOL, "s1"), ["spot"]],
    [on(POOL, "s1", "o1"), BOTH],
    [on(POOL, "empty"), BOTH],
    [on("karpenter.sh/nodepool", "s1"), BOTH],
    // Labels that the selector does not set.
    [on(spotKey, "true"), ["spot"], "gke"],
    [[[requirement(spotKey, "Exists")]], ["spot"], "gke"],
    [[[requirement(spotKey, "NotIn", "true")]], ["on-demand"], "gke"],
    [on(priority, "spot"), ["spot"], "aks"],
    [[[requirement(priority, "DoesNotExist")]], ["on-demand"], "aks"],
  ];
  for (const row of rows) assertAllowed(...row);
});

pure("allowedClasses() meets all constraints; pinnedBy() names the failing one", () => {
  const to = (...hosts: readonly string[]) => ({
    what: `its volume of ${hosts}`,
    terms: [[requirement(HOST, "In", ...hosts)]],
  });
  assert.deepEqual(allowedClasses([], OPTIONS), BOTH);
  assert.deepEqual(allowedClasses([to("s1", "o1"), to("o1")], OPTIONS), ["on-demand"]);
  assert.deepEqual(allowedClasses([to("s1"), to("o1")], OPTIONS), []);
  const reason = pinnedBy([to("s1", "o1"), to("o1")], OPTIONS);
  assert.match(reason ?? "", /^its volume of o1 .* spot/);
});

pure("pinnedBy() heeds hosts and pools of a node selector, but not what is replaced of it", () => {
  const pinned = (selector: Readonly<Record<string, string>>, classes = eks) =>
    pinnedBy(selectorConstraints(selector), { ...OPTIONS, classes });
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

pure("namesClass() is true of a class that is named, and not of hosts", () => {
  const names = (...terms: readonly (readonly NodeRequirement[])[]) =>
    namesClass([{ what: "its affinity", terms }], karpenter);
  assert.ok(names([requirement(TYPE, "In", "spot")]));
  assert.ok(names([requirement(TYPE, "NotIn", "spot")]));
  assert.ok(!names([requirement(TYPE, "In", "spot", "on-demand")]));
  assert.ok(!names([requirement(HOST, "In", "s1")]));
  assert.ok(!names([requirement(TYPE, "In", "spot")], [requirement("zone", "In", "a")]));
});

/** The classes that nodes with these labels, by name, have for hosts or a pool. */
function known(
  classes: NodeClasses,
  nodes: readonly (readonly [string, Record<string, string>])[],
) {
  return knownNodes(
    () => nodes.map(([name, labels]) => ({ ...sampleNode(name), labels })),
    classes,
  );
}

pure("knownNodes() knows hosts by label and name, and pools of one class", () => {
  const { hostClass } = known(karpenter, [
    ["plain", { [TYPE]: "on-demand" }],
    ["labelled", { [TYPE]: "spot", [HOST]: "ip-10-0-0-1" }],
  ]);
  const hosts = ["ip-10-0-0-1", "labelled", "plain", "gone"].map(hostClass);
  assert.deepEqual(hosts, ["spot", "spot", "on-demand", undefined]);
  // No selector sends a pod to nodes without these labels; without a selector they may run anywhere.
  const preemptible = { "cloud.google.com/gke-provisioning": "preemptible" };
  const odd = [["plain", {}], ["old", preemptible]] as const;
  assert.deepEqual(["plain", "old"].map(known(gke, odd).hostClass), [undefined, undefined]);
  assert.deepEqual(["plain", "old"].map(known(aks, odd).hostClass), ["on-demand", "on-demand"]);
  const pools = [["steady", "ON_DEMAND"], ["cheap", "SPOT"], ["cheap", "SPOT"], ["mixed", "SPOT"]];
  const { poolClass } = known(
    eks,
    [...pools, ["mixed", "ON_DEMAND"]].map(([pool = "", type = ""]) =>
      [`${pool}-${type}`, { [POOL]: pool, "eks.amazonaws.com/capacityType": type }] as const
    ),
  );
  const found = ["steady", "cheap", "mixed", "empty"].map((one) => poolClass(POOL, one));
  assert.deepEqual(found, ["on-demand", "spot", undefined, undefined]);
});

pure("volumeConstraints() has those of existing volumes, by the namespace's claims", () => {
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

pure("budgetRefusal() explains which budgets block an eviction", () => {
  const { selector: _none, ...unselecting } = sampleBudget();
  const selecting = (matchLabels: Readonly<Record<string, string>>) => ({
    selector: { matchLabels, matchExpressions: [] },
  });
  const refused = (ready: boolean, ...changes: readonly Partial<PodDisruptionBudget>[]) =>
    budgetRefusal(
      budgetsFor({ app: "web" }, changes.map((change) => ({ ...sampleBudget(), ...change }))),
      ready,
    )?.replace(/^budgets? \S+ /, "");
  const none = refused(true, {});
  assert.match(none ?? "", /\bdisruption\b/);
  assert.equal(refused(true, { disruptionsAllowed: 1 }), undefined);
  assert.equal(budgetRefusal(budgetsFor({ app: "web" }, [unselecting]), true), undefined);
  assert.equal(refused(true, selecting({ app: "db" })), undefined);
  assert.equal(refused(true, selecting({})), none);
  // A pod of several budgets can't be evicted.
  const several = refused(true, { disruptionsAllowed: 3 }, { disruptionsAllowed: 3 });
  assert.match(several ?? "", /\bpod\b/);
  assert.match(refused(true, { disruptionsAllowed: 1, current: false }) ?? "", /\bcounted\b/);
  const unready = [refused(false, {}), refused(true, { freesUnready: true })];
  assert.deepEqual(unready, [none, none]);
  assert.equal(refused(false, { freesUnready: true }), undefined);
});

function tainted(key: string, { value = "", effect = "NoSchedule" } = {}) {
  return { taints: [{ key: "dedicated", value: "gpu", effect }, { key, value, effect }] };
}

pure("departureOf() has the signs of all presets by default", () => {
  const AWS = "aws-node-termination-handler";
  const signs: readonly (readonly [key: string, drained: boolean])[] = [
    [`${AWS}/spot-itn`, false],
    [`${AWS}/scheduled-maintenance`, false],
    [`${AWS}/asg-lifecycle-termination`, false],
    ["cloud.google.com/impending-node-termination", false],
    ["karpenter.sh/disrupted", true],
    ["ToBeDeletedByClusterAutoscaler", true],
    ["karpenter.sh/disruption", true],
  ];
  for (const [key, drained] of signs) {
    const value = key === "karpenter.sh/disruption" ? "disrupting" : "";
    const departure = departureOf(tainted(key, { value }), DEFAULT_DEPARTURE_SIGNS);
    assert.deepEqual(departure, { sign: `taint ${key}`, drained });
  }
  for (const alarm of ["PreemptScheduled", "TerminateScheduled", "RedeployScheduled"]) {
    const departure = departureOf({ alarms: ["Odd", alarm] }, DEFAULT_DEPARTURE_SIGNS);
    assert.deepEqual(departure, { sign: `condition ${alarm}`, drained: false });
  }
});

pure("departureOf() prefers the sign of a sudden end to that of a drain", () => {
  const { taints } = tainted("karpenter.sh/disrupted");
  const itn = tainted("aws-node-termination-handler/spot-itn").taints;
  const signOf = (node: Parameters<typeof departureOf>[0]) =>
    departureOf(node, DEFAULT_DEPARTURE_SIGNS)?.sign;
  assert.match(signOf({ taints: [...taints, ...itn] }) ?? "", /spot-itn$/);
  assert.equal(signOf({ taints, alarms: ["PreemptScheduled"] }), "condition PreemptScheduled");
});

pure("departureOf() leaves nodes that stay", () => {
  const nodes = [
    {},
    tainted("DeletionCandidateOfClusterAutoscaler"),
    tainted("node.kubernetes.io/unschedulable"),
    tainted("karpenter.sh/disruption", { value: "candidate" }),
    tainted("aws-node-termination-handler/rebalance-recommendation"),
    { alarms: ["FreezeScheduled"] },
  ];
  const found = nodes.map((node) => departureOf(node, DEFAULT_DEPARTURE_SIGNS));
  assert.deepEqual(found, nodes.map(() => undefined));
});

pure("departureOf() compares value and effect if the sign has them", () => {
  const signs: DepartureSigns = {
    taints: [{ key: "own", value: "now", effect: "NoExecute" }],
    conditions: ["Dying"],
  };
  const of = (value: string, effect: string) =>
    departureOf(tainted("own", { value, effect }), signs)?.sign;
  assert.equal(of("now", "NoExecute"), "taint own");
  assert.equal(of("now", "NoSchedule"), undefined);
  assert.equal(of("later", "NoExecute"), undefined);
  assert.equal(departureOf({ alarms: ["Dying"] }, signs)?.sign, "condition Dying");
  assert.equal(departureOf(tainted("karpenter.sh/disrupted"), signs), undefined);
});

pure("departureSignsKind parses presets, by default all of them, and one's own signs", () => {
  const byDefault = settingOf(PLACEMENT_SETTINGS.shape.departureSigns).default;
  assert.deepEqual(valueOf(departureSignsKind, byDefault), DEFAULT_DEPARTURE_SIGNS);
  assert.deepEqual(valueOf(departureSignsKind, "aks"), DEPARTURE_PRESETS.aks);
  assert.deepEqual(valueOf(departureSignsKind, ""), { taints: [], conditions: [] });
  const taints = [
    { key: "example.com/going", effect: "NoSchedule" },
    { key: "example.com/drained", drained: true },
  ];
  const own = { taints, conditions: ["Going"] };
  assert.deepEqual(valueOf(departureSignsKind, JSON.stringify(own)), own);
  const beside = valueOf(departureSignsKind, JSON.stringify({ ...own, presets: ["aks"] }));
  const conditions = [...DEPARTURE_PRESETS.aks.conditions, "Going"];
  assert.deepEqual(beside, { taints, conditions });
});

pure("departureSignsKind explains faults", () => {
  const faults: Readonly<Record<string, RegExp>> = {
    "karpentr": /^presets\[0\] is "karpentr": .*karpenter, /,
    '{"taint": []}': /^taint /,
    '{"taints": [{"value": "x"}]}': /^taints\[0\]\.key is missing: /,
    '{"conditions": ["Going", "MemoryPressure"]}':
      /^conditions\[1\] is "MemoryPressure": .* Ready, /,
    '{"conditions": [""]}': /^conditions\[0\] is "": .*1 /,
  };
  for (const [text, fault] of Object.entries(faults)) {
    assert.equal(valueOf(departureSignsKind, text), undefined);
    assert.match(refusalOf(departureSignsKind, text) ?? "", fault);
  }
});

const NODE = sampleNode("node-1");

Deno.test("classifyPod() takes the class from the node, then from the selector, then from the label", () => {
  const { karpenter, aks } = NODE_CLASS_PRESETS;
  const spot = { ...NODE, labels: { "karpenter.sh/capacity-type": "spot" } };
  const rows = [
    ["spot", spot, undefined, undefined],
    ["on-demand", NODE, "spot", "spot"],
    ["spot", undefined, "spot", "on-demand"],
    ["on-demand", undefined, "on-demand", "spot"],
    ["spot", undefined, undefined, "spot"],
    ["on-demand", undefined, undefined, "none"],
    ["on-demand", undefined, undefined, undefined],
    ["on-demand", undefined, undefined, "on-demand", aks],
    ["spot", undefined, undefined, "spot", aks],
  ] as const;
  for (const [expected, node, type, label, classes = karpenter] of rows) {
    const nodeSelector = type === undefined ? {} : { "karpenter.sh/capacity-type": type };
    const pod = { ...samplePod("a"), nodeSelector };
    const labels = label === undefined ? {} : { "spotalis.io/capacity": label };
    const labelled = { ...pod, metadata: { ...pod.metadata, labels } };
    const options = { ...PLACEMENT_DEFAULTS, nodeClassifier: classes, node, evicted: false };
    const found = classifyPod(labelled, options);
    assert.equal(found.class, expected, JSON.stringify([node?.labels, type, label]));
  }
});

Deno.test("runningByClass(), waitingByClass() and countByClass() count pods", () => {
  const departs = { gone: true, departs: "taint spot-itn" };
  const pods = [
    ...placedPods({ spot: 3, "on-demand": 2 }, { ready: false }),
    ...placedPods({ spot: 1, "on-demand": 4 }, { scheduled: false }),
    ...placedPods({ spot: 4 }, { gone: true }),
    ...placedPods({ spot: 4 }, departs),
  ];
  assert.deepEqual(runningByClass(pods), { spot: 3, "on-demand": 2 });
  assert.deepEqual(waitingByClass(pods), { spot: 1, "on-demand": 4 });
  assert.deepEqual(countByClass(pods), { spot: 12, "on-demand": 6 });
  // A pod on a drained node still runs.
  const drained = placedPods({ "on-demand": 3 }, { ...departs, drained: true });
  assert.deepEqual(runningByClass([...pods, ...drained]), { spot: 3, "on-demand": 5 });
});
