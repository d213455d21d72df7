import assert from "node:assert/strict";
import { DEFAULT_MARKET_CONFIG, type MarketConfig } from "../../controller/config.ts";
import { sampleContainer, samplePod } from "../../tests/contract/support/sample_objects.ts";
import type { ContainerFields } from "../../tests/fixtures/container_fields.ts";
import { enforcedContainer, enforcedPod } from "../../tests/fixtures/market/decide_claim.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { sampleHPA, sampleVPA } from "../../tests/fixtures/sample_workloads.ts";
import { ALLOW_OVERRIDES, HPA_COORDINATION, MANAGED, SKIP_GUARANTEED } from "../api/market_keys.ts";
import type { Texts } from "../api/object.ts";
import { isFinished, type Pod, type ResizeCondition } from "../api/pod.ts";
import { INFEASIBLE_REASONS, resizeStatus } from "./inputs/resize_condition.ts";
import { isLive, outOfScope, restoredCause, restoredMessage, type ScopeSubject } from "./scope.ts";

/** The switch as label and as annotation. */
type Switch = { readonly label?: string; readonly annotation?: string };

interface Choice extends Partial<Omit<ScopeSubject, "pod" | "config">> {
  readonly pod?: Partial<Pod>;
  /** The switch of the pod, and of its namespace. */
  readonly own?: Switch;
  readonly theirs?: Switch;
  readonly annotations?: Texts;
  readonly labels?: Texts;
  readonly config?: Partial<MarketConfig>;
}

const texts = (value: string | undefined): Texts => value === undefined ? {} : { [MANAGED]: value };

function verdict({ pod, own = {}, theirs = {}, annotations, labels, config, ...rest }: Choice) {
  const sample = samplePod("web");
  const metadata = {
    ...sample.metadata,
    labels: texts(own.label),
    annotations: { ...texts(own.annotation), ...annotations },
  };
  const namespace = {
    ...{ name: "shop", uid: "", resourceVersion: "", annotations: texts(theirs.annotation) },
    labels: { ...texts(theirs.label), ...labels },
  };
  return outOfScope({
    ...{ namespace: { metadata: namespace }, ...rest },
    pod: { ...sample, metadata, ...pod },
    config: { ...DEFAULT_MARKET_CONFIG, ...config },
  });
}

function table(name: string, rows: readonly (readonly [Choice, reason?: string])[]): void {
  pure(name, () => {
    for (const [choice, reason] of rows) assert.equal(verdict(choice)?.reason, reason);
  });
}

const BOTH = [(own: Switch) => ({ own }), (theirs: Switch) => ({ theirs })] as const;
const ODD = ["maybe", "", "False", "no", "false "].flatMap((odd) => [
  ...[{ label: odd }, { annotation: odd }],
]);
const yes = { label: "true" };
const no = { label: "false" };

table("outOfScope() takes settings first, then the switch of the pod, then the namespace's", [
  [{}],
  [{ config: { market: false }, own: yes }, "MarketOff"],
  [{ config: { excludedNamespaces: ["shop"] }, own: yes }, "NamespaceExcluded"],
  ...BOTH.flatMap((given) => [
    [given(no), "OptedOut"] as const,
    [given({ annotation: "false" }), "OptedOut"] as const,
    // Where they differ the opt-out counts.
    [given({ label: "true", annotation: "false" }), "OptedOut"] as const,
    [given({ label: "false", annotation: "true" }), "OptedOut"] as const,
    ...ODD.map((odd) => [given(odd)] as const),
  ]),
  [{ own: yes, theirs: no }],
  [{ own: no, theirs: yes }, "OptedOut"],
  // A value that can't be read is passed over.
  ...ODD.map((own) => [{ own, theirs: no }, "OptedOut"] as const),
  [{ own: { label: "maybe", annotation: "false" } }, "OptedOut"],
  [{ own: { label: "maybe", annotation: "true" }, theirs: no }],
]);

const config = { managementPolicy: "OptIn" } as const;
const allowed = { config, labels: { [ALLOW_OVERRIDES]: "true" } };

table("outOfScope() asks under OptIn for the namespace's label, or for an administrator's leave", [
  [{ config }, "NotOptedIn"],
  [{ config, namespace: undefined }, "NotOptedIn"],
  [{ config, own: yes }, "NotOptedIn"],
  [{ config, theirs: { annotation: "true" } }, "NotOptedIn"],
  [{ config, theirs: { label: "maybe" } }, "NotOptedIn"],
  [{ config, theirs: yes }],
  [{ config, theirs: yes, own: no }, "OptedOut"],
  [allowed, "NotOptedIn"],
  [{ ...allowed, own: { label: "yes" } }, "NotOptedIn"],
  [{ ...allowed, own: no, theirs: yes }, "OptedOut"],
  ...[yes, { annotation: "true" }].flatMap((own) => [
    [{ ...allowed, own }] as const,
    [{ ...allowed, own, theirs: no }] as const,
    [{ ...allowed, own, labels: { [ALLOW_OVERRIDES]: "yes" } }, "NotOptedIn"] as const,
  ]),
]);

const acting = (
  ...policies: readonly (readonly [container: string, controlled: boolean])[]
): Choice => ({
  verticalAutoscalers: [sampleVPA("Recreate", {
    cpuPolicies: policies.map(([container, controlled]) => ({ container, controlled })),
  })],
});
const inMode = (...modes: readonly string[]): Choice => ({
  verticalAutoscalers: modes.map((mode) => sampleVPA(mode)),
});
const skip = (value: string, more: Texts = {}): Choice => ({
  annotations: { [SKIP_GUARANTEED]: value, ...more },
});
const guaranteed = { qosClass: "Guaranteed" } as const;
const whole = { requests: { cpu: 200, memory: 1 }, limits: { cpu: 200, memory: 1 } };
const scales = (target: { utilization?: number; value?: number }): Choice => ({
  ...{ autoscalers: [sampleHPA({ cpuTargets: [target] })], ...skip("false"), pod: guaranteed },
});
const bare = { ...sampleContainer({ name: "proxy" }), limits: {} };

table(
  "outOfScope() leaves pods to platform, class and other controllers",
  [
    [{ node: { kubeletVersion: "v1.32.9" }, pod: { qosClass: "BestEffort" } }, "KubeletTooOld"],
    [{ node: { kubeletVersion: "v1.32.9" }, own: no }, "OptedOut"],
    [{ node: { kubeletVersion: "v1.33.0" } }],
    [{ pod: { windows: true } }, "WindowsPod"],
    [{ pod: { windows: true, qosClass: "BestEffort" } }, "WindowsPod"],
    [{ node: { os: "windows", kubeletVersion: "v1.32.9" } }, "WindowsPod"],
    // An opt-in does not make the kubelet able to resize it.
    [{ pod: { windows: true }, own: yes }, "WindowsPod"],
    [{ pod: { windows: true }, own: no }, "OptedOut"],
    [{ pod: guaranteed }, "NotBurstable"],
    [{ pod: { qosClass: "BestEffort" } }, "NotBurstable"],
    [{ ...skip("false"), pod: guaranteed }],
    [{ ...skip("true"), pod: guaranteed }, "NotBurstable"],
    [{ ...skip("no"), pod: guaranteed }, "NotBurstable"],
    [{ ...skip("false"), pod: { qosClass: "BestEffort" } }, "NotBurstable"],
    [skip("true")],
    [{ ...skip("false"), pod: { ...guaranteed, podLevel: whole } }, "NotBurstable"],
    [{ pod: { containers: [bare] } }, "NoCPULimit"],
    [{ pod: { containers: [bare, sampleContainer()] } }],
    [{ pod: { containers: [bare] }, ...inMode("Auto") }, "NoCPULimit"],
    [inMode()],
    [inMode("Off")],
    ...["Initial", "Recreate", "InPlaceOrRecreate", "InPlace", "Auto", "New"].map((mode) =>
      [inMode("Off", mode), "VPAConflict"] as const
    ),
    [acting(["*", false])],
    [acting(["app", false])],
    [acting(["app", true], ["*", false]), "VPAConflict"],
    [acting(["proxy", false]), "VPAConflict"],
    // An opt-in does not remove the VPA: two controllers would still set one field.
    [{ ...inMode("Auto"), own: yes }, "VPAConflict"],
    [{ ...inMode("Auto"), own: no }, "OptedOut"],
    // An HPA on utilization divides by the request, where that moves.
    [scales({ utilization: 0.7 }), "HPAConflict"],
    [scales({ value: 300 })],
    [{ ...scales({ utilization: 0.7 }), ...skip("false", { [HPA_COORDINATION]: "false" }) }],
    [{ ...scales({ utilization: 0.7 }), pod: { qosClass: "Burstable" } }],
    [{ ...scales({ utilization: 0.7 }), ...inMode("Auto") }, "VPAConflict"],
  ],
);

pure("isFinished() and isLive() go by phase, node and deletion", () => {
  const phases = ["Succeeded", "Failed", "Pending", "Running", "Unknown"] as const;
  const finished = phases.filter((phase) => isFinished({ phase }));
  assert.deepEqual(finished, ["Succeeded", "Failed"]);
  const sample = samplePod("web");
  assert.deepEqual(phases.filter((phase) => isLive({ ...sample, phase })), ["Running"]);
  const running = { ...sample, phase: "Running" } as const;
  assert.equal(isLive({ ...running, nodeName: "" }), false);
  assert.equal(isLive({ ...running, metadata: { ...sample.metadata, terminating: true } }), false);
});

pure("restoredCause() reads the reason that restoredMessage() wrote, and no other", () => {
  const cause = { reason: "AgentSilent", message: "VPA Web: its lease is old" } as const;
  const message = restoredMessage(cause);
  assert.equal(restoredCause(message), "AgentSilent");
  const old = "the original limits are back: the node's agent has not renewed its lease";
  for (const other of ["", old, "the server says: Restored: no", message.slice(4)]) {
    assert.equal(restoredCause(other), undefined, other);
  }
});

const INFEASIBLE = { type: "PodResizePending", reason: "Infeasible", message: "no" } as const;

/** A kubelet 1.33 names no generation; the pod's requests were raised from 100 to 150 m. */
function reasonOf(
  condition: Partial<ResizeCondition>,
  { requests, limits, ...container }: ContainerFields = {},
): string {
  const app = enforcedContainer({
    ...container,
    requests: { cpu: 150, ...requests },
    limits: { cpu: 400, ...limits },
  });
  return resizeStatus(enforcedPod({
    metadata: { ...enforcedPod().metadata, generation: 3 },
    containers: [app],
    resizeConditions: [{ ...INFEASIBLE, ...condition }],
  })).reason;
}

pure("resizeStatus() knows why kubelets of 1.33 to 1.36 call a resize infeasible", () => {
  const guaranteed = "Resize is infeasible for Guaranteed Pods alongside";
  const messages = {
    [`${guaranteed} CPU Manager static policy`]: "StaticCPUManager",
    [`${guaranteed} CPU Manager policy "static"`]: "StaticCPUManager",
    [`${guaranteed} Memory Manager static policy`]: "StaticMemoryManager",
    [`${guaranteed} Memory Manager policy "Static"`]: "StaticMemoryManager",
    "In-place resize of containers with swap is not supported.": "SwapEnabled",
    "Node didn't have enough capacity: cpu, requested: 9000, capacity: 2000": "NodeCapacity",
    "In-place resize of static-pods is not supported": "StaticPod",
    "In-place pod resize is not supported on Windows": "WindowsPod",
    "In-place pod-level resources resize is not supported on Windows": "WindowsPod",
    "InPlacePodLevelResourcesVerticalScaling is disabled": "PodLevelResources",
    "In-place pod-level resources resize is not supported on this node": "PodLevelResources",
    "InPlacePodVerticalScaling is disabled": "KubeletTooOld",
    "In-place pod resize is not supported on this node": "KubeletTooOld",
    "a message of a later kubelet": "ResizeInfeasible",
  };
  for (const [message, reason] of Object.entries(messages)) {
    const pod = enforcedPod({
      containers: [enforcedContainer({ limits: { cpu: 400 } })],
      resizeConditions: [{ ...INFEASIBLE, message }],
    });
    assert.deepEqual(resizeStatus(pod), { reason, message });
    assert.ok(INFEASIBLE_REASONS.has(reason));
  }
  for (const reason of ["ResizeInProgress", "ResizeDeferred", "ResizeError", "Applied"]) {
    assert.ok(!INFEASIBLE_REASONS.has(reason));
  }
  // The condition counts for nothing once the limits are in force.
  const inForce = enforcedPod({ resizeConditions: [INFEASIBLE] });
  assert.equal(resizeStatus(inForce).reason, "ResizeInProgress");
});

pure("resizeStatus() believes a condition without generation by the values", () => {
  const inForce = { applied: { requests: {}, limits: { cpu: 400 } } };
  const failing = { type: "PodResizeInProgress", reason: "Error" } as const;
  const memory = { requests: { memory: 64 }, allocated: { memory: 32 } };
  const rows: readonly (readonly [string, Partial<ResizeCondition>, ContainerFields?])[] = [
    ["ResizeInfeasible", {}, { allocated: { cpu: 100 } }],
    ["ResizeInfeasible", {}, { allocated: { cpu: 150 } }],
    ["ResizeInfeasible", {}],
    ["ResizeInProgress", {}, { ...inForce, allocated: { cpu: 150 } }],
    ["ResizeInfeasible", {}, { ...inForce, allocated: { cpu: 100 } }],
    ["ResizeInfeasible", {}, { ...inForce, ...memory }],
    // One in progress counts once its requests are allocated.
    ["ResizeError", failing, { allocated: { cpu: 150 } }],
    ["ResizeError", failing, { allocated: {} }],
    ["ResizeInProgress", failing, { allocated: { cpu: 100 } }],
    ["ResizeError", { ...failing, observedGeneration: 3 }, { allocated: { cpu: 100 } }],
  ];
  for (const [expected, condition, container] of rows) {
    assert.equal(reasonOf(condition, container), expected);
  }
});
