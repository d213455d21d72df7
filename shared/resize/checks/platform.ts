/**
 * Check: can the pod be resized at all, by its spec and its node?
 *
 * These rules hold for the whole life of a pod, so that `scope.ts` excludes such pods from the market.
 * Whether a server resizes pods with pod-level resources, or a kubelet has a static CPU manager, only
 * their answers show: these are reported as a reason, with a back-off.
 *
 * @module
 */
import type { EnforcementReason } from "../../api/reasons/enforcement_reasons.ts";
import type { OutOfScope, PodInput } from "../inputs/resize_input.ts";

/** In-place resize is on by default from Kubernetes 1.33 (KEP-1287). */
const LEAST_MINOR = 33;

/** True for a version below 1.33; false for one that can't be read. */
export function isOldKubelet(version: string | undefined): boolean {
  const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(version ?? "") ?? [];
  return major === "1" && Number(minor) < LEAST_MINOR;
}

/** Annotation of a mirror pod, the kubelet's copy of a static pod in the API. */
const MIRROR = "kubernetes.io/config.mirror";
/** Annotation with the source of a pod: `api`, or for a static pod `file` or `http`. */
const SOURCE = "kubernetes.io/config.source";

/** A rule by which no resize is possible; returns a message, or `false` or undefined where it is. */
export type PlatformRule = (input: Pick<PodInput, "pod" | "node">) => string | false | undefined;

/** The rules by reason, in order. */
export const PLATFORM_RULES: readonly (readonly [EnforcementReason, PlatformRule])[] = [
  // Servers before 1.36 check the pod alone, and the kubelet on Windows reports the resize as infeasible.
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

/** The first reason why the pod can never be resized; undefined: none. */
export function neverResizable(input: Pick<PodInput, "pod" | "node">): OutOfScope | undefined {
  for (const [reason, rule] of PLATFORM_RULES) {
    const message = rule(input);
    if (message) return { reason, message };
  }
  return undefined;
}
