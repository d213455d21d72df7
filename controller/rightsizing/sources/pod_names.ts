/**
 * Names of the pods of a workload, those that are gone among them.
 *
 * @module
 */
import type { UsageQuestion, WorkloadIdentity } from "../ports.ts";

/**
 * The letters and digits that made-up parts of names consist of: without vowels, and without what
 * looks like one. Source: k8s.io/apimachinery/pkg/util/rand (`alphanums`).
 */
const SAFE = "[bcdfghjklmnpqrstvwxz2456789]";
/** The part that makes a pod's name unlike others (k8s.io/apiserver/pkg/storage/names). */
const RANDOM = `${SAFE}{5}`;
/** A hash of the template is 32 bits in decimal, each digit written as a safe character. */
const LONGEST_HASH = 10;
/** Characters before the random part, which are cut to this: 63 − 5, from the same place. */
const LONGEST_BASE = 58;

/**
 * A regular expression, of RE2 and of JavaScript alike, for the whole names of a workload's pods:
 * `web-<hash>-<random>` of a Deployment, `web-<ordinal>` of a StatefulSet, `web-<random>` of a
 * DaemonSet. It holds for pods that are gone, too.
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
 * Whether a series is of a pod of another workload: its own name says so, or that of a
 * living sibling. `web-bcd-x4x4x` does not belong to the Deployment `web` where `web-bcd-y5y5y` belongs
 * to the DaemonSet `web-bcd`.
 */
export function foreignPodFilter(
  { pods, otherPods }: { readonly pods: readonly string[]; readonly otherPods: readonly string[] },
): (pod: string) => boolean {
  const own = new Set(pods);
  const others = new Set(otherPods);
  const families = new Set(otherPods.map(creatorName));
  for (const pod of pods) families.delete(creatorName(pod));
  return (pod) => !own.has(pod) && (others.has(pod) || families.has(creatorName(pod)));
}

/** The part before the last: the name of the object that made the pod. */
function creatorName(pod: string): string {
  return pod.slice(0, Math.max(0, pod.lastIndexOf("-")));
}

/**
 * A regular expression for the names of the pods of a question: by the rule of the names, and by name
 * where a living pod does not follow it.
 */
export function podsPattern({ workload, pods }: UsageQuestion): string {
  const rule = podNamePattern(workload);
  const byRule = new RegExp(`^(?:${rule})$`);
  return [rule, ...pods.filter((pod) => !byRule.test(pod)).map(regexText)].join("|");
}
