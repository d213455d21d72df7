/**
 * Patterns for the names of a workload's pods, deleted ones included.
 *
 * @module
 */
import type { UsageQuery, WorkloadIdentity } from "../ports.ts";

/**
 * The characters of random parts of names: without vowels and digits that look like one. Source:
 * k8s.io/apimachinery/pkg/util/rand (`alphanums`).
 */
const SAFE = "[bcdfghjklmnpqrstvwxz2456789]";
/** The random end of a pod's name (k8s.io/apiserver/pkg/storage/names). */
const RANDOM = `${SAFE}{5}`;
/** A hash of the template is 32 bits in decimal, each digit written as a safe character. */
const LONGEST_HASH = 10;
/** The part before the random one is cut to so many characters: 63 − 5, from the same package. */
const LONGEST_BASE = 58;

/**
 * A regular expression, of RE2 and of JavaScript alike, for the whole names of a workload's pods:
 * `web-<hash>-<random>` of a Deployment, `web-<ordinal>` of a StatefulSet, `web-<random>` of a
 * DaemonSet.
 */
export function podNamePattern({ kind, name }: Pick<WorkloadIdentity, "kind" | "name">): string {
  if (kind === "StatefulSet") return `${regexText(name)}-(?:0|[1-9][0-9]*)`;
  const base = `${name}-`;
  if (kind === "DaemonSet") return `${regexText(base.slice(0, LONGEST_BASE))}${RANDOM}`;
  // A long name is cut within the hash, or before it.
  const room = LONGEST_BASE - base.length;
  if (room <= 0) return `${regexText(base.slice(0, LONGEST_BASE))}${RANDOM}`;
  if (room > LONGEST_HASH) return `${regexText(base)}${SAFE}{1,${LONGEST_HASH}}-${RANDOM}`;
  const whole = room > 1 ? `${SAFE}{1,${room - 1}}-|` : "";
  return `${regexText(base)}(?:${whole}${SAFE}{${room}})${RANDOM}`;
}

/** The text itself, as a regular expression. */
export function regexText(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

/**
 * Returns a function that is true for names of other workloads' pods: of `otherPods`, and of pods with the same
 * creator. `web-bcd-x4x4x` does not belong to the Deployment `web` where `web-bcd-y5y5y` belongs to the DaemonSet
 * `web-bcd`.
 */
export function foreignPodFilter(
  { pods, otherPods }: { readonly pods: readonly string[]; readonly otherPods: readonly string[] },
): (pod: string) => boolean {
  const workloadPods = new Set(pods);
  const others = new Set(otherPods);
  const otherCreators = new Set(otherPods.map(creatorName));
  for (const pod of pods) otherCreators.delete(creatorName(pod));
  return (pod) =>
    !workloadPods.has(pod) && (others.has(pod) || otherCreators.has(creatorName(pod)));
}

/** The name without its last part: of the object that created the pod. */
function creatorName(pod: string): string {
  return pod.slice(0, Math.max(0, pod.lastIndexOf("-")));
}

/**
 * A regular expression for the names of the pods of a query: the workload's pattern, and the names of present pods
 * that do not match it.
 */
export function podsPattern({ workload, pods }: UsageQuery): string {
  const pattern = podNamePattern(workload);
  const whole = new RegExp(`^(?:${pattern})$`);
  return [pattern, ...pods.filter((pod) => !whole.test(pod)).map(regexText)].join("|");
}
