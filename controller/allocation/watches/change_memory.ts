/**
 * Which changes of nodes, quotas, workloads and autoscalers concern pods.
 *
 * @module
 */
import type { Informer } from "../../../shared/control/informer.ts";
import type { ApiObject, Texts } from "../../../shared/api/object.ts";
import { objectKey } from "../../../shared/control/object_key.ts";
import type { Node } from "../../../shared/api/node.ts";
import { isOldKubelet } from "../../../shared/resize/checks/platform.ts";
import type { ResourceQuota } from "../../../shared/api/namespace.ts";
import { isRollingOut, type Workload, type WorkloadRef } from "../../../shared/api/workload.ts";

/**
 * The function says whether the object under this key is for its pods another one than when it was
 * last asked, by what `factsOf` makes of it. One that is gone is another one, once, and forgotten.
 */
function createChangeMemory<T extends ApiObject>(
  copy: Pick<Informer<T>, "all" | "get">,
  factsOf: (object: T) => string,
): (key: string) => boolean {
  const known = new Map<string, string>();
  for (const object of copy.all()) known.set(objectKey(object.metadata), factsOf(object));
  return (key) => {
    const object = copy.get(key);
    const before = known.get(key);
    if (object === undefined) return known.delete(key);
    const now = factsOf(object);
    known.set(key, now);
    return now !== before;
  };
}

/** See {@linkcode createChangeMemory}; keys are names. A node updates its status every few seconds. */
export function createNodeMemory(
  copy: Pick<Informer<Node>, "all" | "get">,
): (nodeName: string) => boolean {
  return createChangeMemory(copy, stateOf);
}

function stateOf({ kubeletVersion, os, ready, draining, cordonedAtMs }: Node): string {
  return `${isOldKubelet(kubeletVersion)} ${os} ${ready} ${draining} ${cordonedAtMs}`;
}

/** See {@linkcode createChangeMemory}; keys are `namespace/name`. Its use changes all the time. */
export function createQuotaMemory(
  copy: Pick<Informer<ResourceQuota>, "all" | "get">,
): (key: string) => boolean {
  return createChangeMemory(
    copy,
    ({ hardLimitsCPU, requestsCPU, scopes }) =>
      JSON.stringify([hardLimitsCPU, requestsCPU?.hard, scopes]),
  );
}

/**
 * See {@linkcode createChangeMemory}: it rolls out or no longer, or says something else to the market.
 * Its status changes with each pod that comes, goes, or becomes Ready, its annotations of rightsizing
 * with each recommendation.
 */
export function createWorkloadMemory(
  copy: Pick<Informer<Workload>, "all" | "get">,
): (key: string) => boolean {
  return createChangeMemory(copy, factsOf);
}

function factsOf({ metadata: { labels, annotations }, rollout }: Workload): string {
  return JSON.stringify([
    isRollingOut(rollout),
    marketTexts(labels),
    marketTexts(annotations),
  ]);
}

/** Labels are the user's, and most of them no business of the market's. */
function marketTexts(texts: Texts = {}): readonly (readonly [string, string | undefined])[] {
  return Object.entries(texts).filter(([name]) => name.startsWith("mbcas.io/"));
}

/** An object that is about a workload of its namespace. */
export interface Targeting extends ApiObject {
  readonly target: WorkloadRef;
}

/**
 * Makes a function that returns the workloads that a change under this key concerns: the present target
 * and the previous one, which is no longer readable. None when no field that we keep has changed:
 * autoscalers write their status several times a minute.
 */
export function createTargetMemory<T extends Targeting>(
  copy: Pick<Informer<T>, "all" | "get">,
): (key: string) => readonly WorkloadRef[] {
  const known = new Map<string, { readonly target: WorkloadRef; readonly text: string }>();
  const remember = (object: T): { readonly target: WorkloadRef; readonly text: string } => {
    const { metadata: { resourceVersion: _version, ...metadata }, ...rest } = object;
    return { target: object.target, text: JSON.stringify({ ...rest, metadata }) };
  };
  for (const object of copy.all()) known.set(objectKey(object.metadata), remember(object));
  return (key) => {
    const object = copy.get(key);
    const before = known.get(key);
    if (object === undefined) {
      known.delete(key);
      return before === undefined ? [] : [before.target];
    }
    const now = remember(object);
    if (now.text === before?.text) return [];
    known.set(key, now);
    if (before === undefined) return [now.target];
    const moved = before.target.kind !== now.target.kind || before.target.name !== now.target.name;
    return moved ? [before.target, now.target] : [now.target];
  };
}
