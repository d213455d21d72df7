/**
 * Which changes of nodes, quotas, workloads and autoscalers concern pods.
 *
 * @module
 */
import type { Informer } from "../../../shared/control/informer.ts";
import type { ApiObject, Texts } from "../../../shared/api/object.ts";
import { MARKET_PREFIX } from "../../../shared/api/market_keys.ts";
import { objectKey } from "../../../shared/control/object_key.ts";
import type { Node } from "../../../shared/api/node.ts";
import { isOldKubelet } from "../../../shared/resize/checks/platform.ts";
import type { ResourceQuota } from "../../../shared/api/namespace.ts";
import { isRollingOut, type Workload } from "../../../shared/api/workload.ts";

/**
 * Makes a function that returns the versions of the object under a key that pods have to know of: the
 * last one and the present one, as far as there are any; none when both are the same by `factsOf`.
 */
export function createChangeMemory<T extends ApiObject>(
  copy: Pick<Informer<T>, "all" | "get">,
  factsOf: (object: T) => unknown,
): (key: string) => readonly T[] {
  const known = new Map([...copy.all()].map((one) => [objectKey(one.metadata), one]));
  const textOf = (object: T | undefined): string | undefined =>
    object && JSON.stringify(factsOf(object));
  return (key) => {
    const before = known.get(key);
    const now = copy.get(key);
    if (now === undefined) known.delete(key);
    else known.set(key, now);
    return textOf(before) === textOf(now) ? [] : [before, now].filter((one) => one !== undefined);
  };
}

/** A node updates its status every few seconds. */
export function nodeFacts({ kubeletVersion, os, ready, draining, cordonedAtMs }: Node): unknown {
  return [isOldKubelet(kubeletVersion), os, ready, draining, cordonedAtMs];
}

/** A quota's used amounts are left out: they change all the time. */
export function quotaFacts({ hardLimitsCPU, requestsCPU, scopes }: ResourceQuota): unknown {
  return [hardLimitsCPU, requestsCPU?.hard, scopes];
}

/**
 * Whether it rolls out, and what it says to the market. A workload's status changes with each pod that
 * comes, goes, or becomes Ready, its annotations of rightsizing with each recommendation.
 */
export function workloadFacts({ metadata: { labels, annotations }, rollout }: Workload): unknown {
  const ofMarket = (texts: Texts = {}): unknown =>
    Object.entries(texts).filter(([name]) => name.startsWith(MARKET_PREFIX));
  return [isRollingOut(rollout), ofMarket(labels), ofMarket(annotations)];
}

/** All that we keep: autoscalers write their status several times a minute. */
export function keptFacts({ metadata, ...rest }: ApiObject): unknown {
  return { ...rest, metadata: { ...metadata, resourceVersion: "" } };
}
