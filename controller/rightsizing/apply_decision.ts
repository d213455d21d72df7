/**
 * Applies a decision: resizes pods, sets their original limits, or writes the template.
 *
 * @module
 */
import { type InPlacePlan, inPlacePlan } from "../../shared/rightsizing/guards/method.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import type { Pod, PodContainer, Resources } from "../../shared/api/pod.ts";
import {
  type ApplyFailure,
  applyFailure,
} from "../../shared/rightsizing/guards/workload_events.ts";
import type { ApplyDecision } from "../../shared/rightsizing/guards/decide_rightsizing.ts";
import type { RightsizingSnapshot } from "../../shared/rightsizing/guards/rightsizing_snapshot.ts";
import type { WorkloadWriter } from "../../shared/rightsizing/ports.ts";
import { originalsIn } from "../../shared/resize/original_limits.ts";
import type { AllocationStore } from "../../shared/api/ports.ts";
import {
  answerOf,
  auditedValues,
  type ResizeContext,
  sendChanges,
} from "../resize/send_changes.ts";
import type { Original, PodAllocation } from "../../shared/api/pod_allocation.ts";
import type { Clock } from "../../shared/clock.ts";
import type { Informer } from "../../shared/control/informer.ts";
import { formatCPU } from "../../shared/quantity.ts";
import { movesRequest } from "../../shared/resize/inputs/qos.ts";
import { refusalKind } from "../../shared/resize/refusal.ts";
import { containersWith, type WantedResources } from "../../shared/resize/inputs/resources.ts";

/**
 * Called after a server-side apply of a template. `outcome`: `accepted`, a `RefusalKind`, or `failed` without a
 * response of the server.
 */
export type TemplateObserver = (
  patch: { readonly kind: string; readonly outcome: string },
) => void;

/** Ports that change pods and workloads. */
export interface Appliers extends ResizeContext {
  readonly workloads: WorkloadWriter;
  readonly templatePatched?: TemplateObserver | undefined;
  /** Sets the original limits of a pod of the market, millicores by container. */
  readonly setOriginalLimits: (pod: Pod, limits: ReadonlyMap<string, number>) => Promise<void>;
}

/** The result of applying a decision. */
export interface Applied {
  /** The values in force from now on, by container; absent: as before. */
  readonly inForce?: ReadonlyMap<string, Resources>;
  /** The first failure; others are mostly of the same kind. */
  readonly failure?: ApplyFailure;
  /** Names of pods that could not get the values. */
  readonly failedPods: readonly string[];
}

/**
 * Applies the values. In place, they are in force once one pod has them, or none needs a resize: after a crash
 * in between, they are decided again. `pods`: the workload's pods by UID, as the cache has them.
 */
export async function applyDecision(
  snapshot: RightsizingSnapshot,
  { method, wanted }: ApplyDecision,
  { pods, appliers }: { readonly pods: ReadonlyMap<string, Pod>; readonly appliers: Appliers },
): Promise<Applied> {
  const { inForce, ...plan } = inPlacePlan(snapshot, wanted);
  if (method === "Recreate") {
    const refusal = await writeTemplate(snapshot, wanted, appliers);
    return refusal === undefined
      ? { inForce, failedPods: [] }
      : { failure: applyFailure(refusal), failedPods: [] };
  }
  const { resized, failures } = await resizePods(plan.pods, { pods, appliers });
  const [first] = failures.values();
  const applied = { failedPods: [...failures.keys()], ...(first && { failure: first }) };
  if (resized === 0 && first !== undefined) return applied;
  // A request and its limit belong together: a pod that did not get the request keeps its original limit.
  const isDenied = [...failures.values()].some(({ permission }) => permission !== undefined);
  if (plan.originalLimits.size === 0 || isDenied) return { inForce, ...applied };
  for (const pod of pods.values()) {
    const { name } = pod.metadata;
    if (failures.has(name)) continue;
    const refused = await refusalOf(appliers.setOriginalLimits(pod, plan.originalLimits));
    const failure = refused && applyFailure(refused);
    if (failure !== undefined && failure.next !== "forget") {
      return { inForce, failure, failedPods: [...applied.failedPods, name] };
    }
  }
  return { inForce, ...applied };
}

/**
 * Resizes the pods one by one, and returns how many were resized, and the failures by name. A missing permission
 * ends it, as other pods would lack it, too. A deleted pod does not count as a failure.
 */
async function resizePods(
  planned: InPlacePlan["pods"],
  { pods, appliers }: {
    readonly pods: ReadonlyMap<string, Pod>;
    readonly appliers: ResizeContext;
  },
): Promise<{ readonly resized: number; readonly failures: ReadonlyMap<string, ApplyFailure> }> {
  const failures = new Map<string, ApplyFailure>();
  let resized = 0;
  const reason = "OptimizationApplied" as const;
  for (const { pod: before, changes } of planned) {
    const pod = pods.get(before.metadata.uid) ?? before;
    const originals = originalsIn(pod);
    const resize = { pod, source: "rightsizing", reason, changes, originals } as const;
    const { refusal } = await sendChanges(resize, appliers);
    const failure = refusal && applyFailure(refusal);
    if (failure === undefined) resized++;
    else if (failure.next !== "forget") failures.set(pod.metadata.name, failure);
    if (failure?.permission !== undefined) break;
  }
  return { resized, failures };
}

/** The template's containers once the decision is applied, for `adoptedOn`. */
export function templateAfter(
  { workload: { template: { containers } } }: Pick<RightsizingSnapshot, "workload">,
  { method, wanted }: ApplyDecision,
): readonly PodContainer[] {
  return method === "InPlace" ? containers : containersWith(containers, wanted);
}

/** Writes the template, and returns the server's refusal. */
async function writeTemplate(
  { workload, policy }: RightsizingSnapshot,
  wanted: WantedResources,
  { workloads, audit, templatePatched }: Appliers,
): Promise<ApiError | undefined> {
  const { useServerSideApply: serverSideApply } = policy.updateStrategy;
  const { kind, metadata: { namespace, name, uid }, template } = workload;
  const request = audit?.begin();
  const options = { serverSideApply, auditID: request?.auditID };
  let outcome = "failed";
  let refusal: ApiError | undefined;
  try {
    refusal = await refusalOf(workloads.recreate(workload, wanted, options));
    outcome = refusal === undefined ? "accepted" : refusalKind(refusal);
  } finally {
    if (serverSideApply) templatePatched?.({ kind, outcome });
  }
  for (const [container, values] of wanted) {
    request?.record({
      ...{ source: "rightsizing", action: "template", reason: "OptimizationApplied" },
      ...{ namespace, kind, name, uid },
      ...answerOf(refusal),
      ...auditedValues(template.containers, { name: container, ...values }),
    });
  }
  return refusal;
}

async function refusalOf(request: Promise<void>): Promise<ApiError | undefined> {
  try {
    await request;
    return undefined;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return error;
  }
}

/** The market writes the same status: after a conflict, the newer version is used. */
const TRIES = 4;
/** Time for the cache to receive the market's write, ms. */
const PAUSE_MS = 250;

/**
 * Returns a function that sets original limits, millicores by container, and leaves pods outside of the market
 * alone. The market derives its bounds from them at its next reconcile of the pod. Throws an `ApiError` when the
 * server refuses, also after repeated conflicts with the market.
 */
export function createOriginalLimitWriter(
  { allocations, store, clock }: {
    readonly allocations: Pick<Informer<PodAllocation>, "get">;
    readonly store: Pick<AllocationStore, "writeStatus">;
    readonly clock: Pick<Clock, "sleep">;
  },
): Appliers["setOriginalLimits"] {
  return async (pod, limits) => {
    const { namespace, uid } = pod.metadata;
    for (let left = TRIES - 1;; left--) {
      const allocation = allocations.get(`${namespace}/${uid}`);
      const next = allocation && withLimits(allocation, { pod, limits });
      if (next === undefined) return;
      try {
        await store.writeStatus(next);
        return;
      } catch (error) {
        if (!(error instanceof ApiError) || error.status !== 409 || left === 0) throw error;
      }
      await clock.sleep(PAUSE_MS);
    }
  };
}

/** The allocation with these original limits; undefined where it has them already, or has none yet. */
function withLimits(
  allocation: PodAllocation,
  { pod, limits }: { readonly pod: Pod; readonly limits: ReadonlyMap<string, number> },
): PodAllocation | undefined {
  const { originalLimits, originalRequests } = allocation.status ?? {};
  if (originalLimits === undefined) return undefined;
  const carried = originalsIn(pod);
  const changed = (originals: readonly Original[]): Original[] =>
    originals.map((one) => {
      const { name } = one;
      const limit = limits.get(name);
      if (limit === undefined) return one;
      const replaced = carried.get(name);
      const next = { name, cpu: formatCPU(limit) };
      return replaced === undefined ? next : { ...next, replaces: formatCPU(replaced) };
    });
  const next = changed(originalLimits);
  if (next.every(({ cpu }, index) => cpu === originalLimits[index]?.cpu)) return undefined;
  // Where the market moves the request with the limit, both have the same original value.
  const requests = movesRequest(pod) && originalRequests !== undefined
    ? { originalRequests: changed(originalRequests) }
    : {};
  return { ...allocation, status: { ...allocation.status, originalLimits: next, ...requests } };
}
