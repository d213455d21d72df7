/**
 * Check: which pods can never be resized, by what pod and node report of themselves.
 *
 * These rules hold for a whole pod for as long as it lives, so such pods take no part at all
 * (`scope.ts`) and get no allocation. Facts that only a server or a kubelet can know are not guessed:
 * pod-level resources, which some servers resize and others do not, and static CPU managers are seen by
 * the answer, as a reason and a back-off.
 *
 * @module
 */
import type { EnforcementReason } from "../../api/reasons/enforcement_reasons.ts";
import type { OutOfScope, PodInput } from "../inputs/resize_input.ts";

/** In-place resize is on by default from Kubernetes 1.33 (KEP-1287). */
const LEAST_MINOR = 33;

/** True for a version below 1.33; one that can't be read is given the benefit of the doubt. */
export function isOldKubelet(version: string | undefined): boolean {
  const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(version ?? "") ?? [];
  return major === "1" && Number(minor) < LEAST_MINOR;
}

/** On the copy of a static pod that the kubelet keeps in the API. */
const MIRROR = "kubernetes.io/config.mirror";
/** Where the kubelet has a pod from: `api`, or a file or an address for a static one. */
const SOURCE = "kubernetes.io/config.source";

/** A rule against a resize of the pod for good, with a message; `false` or undefined: it does not hold. */
export type PlatformRule = (input: Pick<PodInput, "pod" | "node">) => string | false | undefined;

/** By reason, in the order in which they are asked. */
export const PLATFORM_RULES: readonly (readonly [EnforcementReason, PlatformRule])[] = [
  // Servers before 1.36 look at the pod alone; that kubelet then calls it infeasible.
  [
    "WindowsPod",
    ({ pod, node }) =>
      pod.windows
        ? "spec.os of the pod says windows"
        : node?.os !== undefined && `node ${pod.nodeName} runs ${node.os}`,
  ],
  [
    "StaticPod",
    ({ pod: { metadata: { annotations } } }) =>
      (annotations[MIRROR] !== undefined || (annotations[SOURCE] ?? "api") !== "api") &&
      "the pod is the mirror of a static pod",
  ],
  // Any such claim locks all resources of the pod, CPU too (`ValidatePodResize` of 1.36).
  [
    "DeviceClaims",
    ({ pod }) => pod.claimsNodeResources && "device claims hold CPU or memory of the node for it",
  ],
  [
    "KubeletTooOld",
    ({ pod, node }) =>
      isOldKubelet(node?.kubeletVersion) &&
      `the kubelet of ${pod.nodeName} is ${node?.kubeletVersion}: resizes need 1.33 or newer`,
  ],
];

/** Why the pod can never be resized; undefined where nothing is known against it. */
export function neverResizable(input: Pick<PodInput, "pod" | "node">): OutOfScope | undefined {
  for (const [reason, rule] of PLATFORM_RULES) {
    const message = rule(input);
    if (message) return { reason, message };
  }
  return undefined;
}
