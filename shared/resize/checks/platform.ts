/**
 * Check: which pods can never be resized, by what pod and node report of themselves.
 *
 * What is here is true of a whole pod for as long as it lives, so such pods take no part at all
 * (`scope.ts`) and get no allocation. What only a server or a kubelet can know is not guessed:
 * pod-level resources, which some servers resize and others do not, and static CPU managers are seen
 * by the answer, as a reason and a back-off.
 *
 * @module
 */
import type { Node } from "../../api/node.ts";
import type { Pod } from "../../api/pod.ts";
import type { EnforcementReason } from "../../api/reasons/enforcement_reasons.ts";

/** In-place resize is on by default from Kubernetes 1.33 (KEP-1287). */
const LEAST_MINOR = 33;

/** True for a version below 1.33; one that can't be read is given the benefit of the doubt. */
export function isOldKubelet(version: string | undefined): boolean {
  const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(version ?? "") ?? [];
  return major === "1" && Number(minor) < LEAST_MINOR;
}

/** What the rules look at. */
export interface PlatformFacts {
  readonly pod: Pod;
  /** The pod's; not known: its pods are given the benefit of the doubt. */
  readonly node?: Pick<Node, "kubeletVersion" | "os"> | undefined;
}

/** Why a pod is left alone. */
export interface LeftAlone {
  readonly reason: EnforcementReason;
  readonly message: string;
}

/** One named rule. */
export interface PlatformRule {
  readonly name: string;
  readonly rule: (facts: PlatformFacts) => LeftAlone | undefined;
}

/** On the copy of a static pod that the kubelet keeps in the API. */
const MIRROR = "kubernetes.io/config.mirror";
/** Where the kubelet has a pod from: `api`, or a file or an address for a static one. */
const SOURCE = "kubernetes.io/config.source";

/** A rule that is named after its reason, and finds a message. */
function rule(
  reason: EnforcementReason,
  find: (facts: PlatformFacts) => string | false | undefined,
): PlatformRule {
  return {
    name: reason,
    rule(facts) {
      const message = find(facts);
      return message ? { reason, message } : undefined;
    },
  };
}

/** In the order in which they are asked. */
export const PLATFORM_RULES: readonly PlatformRule[] = [
  // Servers before 1.36 look at the pod alone; that kubelet then calls it infeasible.
  rule(
    "WindowsPod",
    ({ pod, node }) =>
      pod.windows
        ? "spec.os of the pod says windows"
        : node?.os !== undefined && `node ${pod.nodeName} runs ${node.os}`,
  ),
  rule(
    "StaticPod",
    ({ pod: { metadata: { annotations } } }) =>
      (annotations[MIRROR] !== undefined || (annotations[SOURCE] ?? "api") !== "api") &&
      "the pod is the mirror of a static pod",
  ),
  // Any such claim locks all resources of the pod, CPU too (`ValidatePodResize` of 1.36).
  rule(
    "DeviceClaims",
    ({ pod }) => pod.claimsNodeResources && "device claims hold CPU or memory of the node for it",
  ),
  rule("KubeletTooOld", ({ pod, node }) =>
    isOldKubelet(node?.kubeletVersion) &&
    `the kubelet of ${pod.nodeName} is ${node?.kubeletVersion}: resizes need 1.33 or newer`),
];
