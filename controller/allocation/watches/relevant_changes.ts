/**
 * Which changes of nodes, quotas, workloads and autoscalers concern pods.
 *
 * @module
 */
import type { ApiObject, Texts } from "../../../shared/api/object.ts";
import { MARKET_PREFIX } from "../../../shared/api/market_keys.ts";
import type { Node } from "../../../shared/api/node.ts";
import { isOldKubelet } from "../../../shared/resize/checks/platform.ts";
import type { ResourceQuota } from "../../../shared/api/namespace.ts";
import { isRollingOut, type Workload } from "../../../shared/api/workload.ts";

/**
 * The versions of an object that concern pods: before and after a change, as far as there are any; none
 * where `factsOf` is the same of both.
 */
export function relevantVersions<T extends ApiObject>(
  versions: readonly [before: T | undefined, now: T | undefined],
  inputOf: (object: T) => unknown,
): readonly T[] {
  const [before, now] = versions.map((one) => one && JSON.stringify(inputOf(one)));
  return before === now ? [] : versions.filter((one) => one !== undefined);
}

/** A node updates its status every few seconds. */
export function nodeInput({ kubeletVersion, os, ready, draining, cordonedAtMs }: Node): unknown {
  return [isOldKubelet(kubeletVersion), os, ready, draining, cordonedAtMs];
}

/** A quota's used amounts are left out: they change all the time. */
export function quotaInput({ bounds, scopes }: ResourceQuota): unknown {
  return [bounds["limits.cpu"]?.hard, bounds["requests.cpu"]?.hard, scopes];
}

/**
 * Whether it rolls out, and what it says to the market. A workload's status changes with each pod that
 * comes, goes, or becomes Ready, its annotations of rightsizing with each recommendation.
 */
export function workloadInput({ metadata: { labels, annotations }, rollout }: Workload): unknown {
  const ofMarket = (texts: Texts = {}): unknown =>
    Object.entries(texts).filter(([name]) => name.startsWith(MARKET_PREFIX));
  return [isRollingOut(rollout), ofMarket(labels), ofMarket(annotations)];
}

/** All that we keep: autoscalers write their status several times a minute. */
export function keptInput({ metadata, ...rest }: ApiObject): unknown {
  return { ...rest, metadata: { ...metadata, resourceVersion: "" } };
}
