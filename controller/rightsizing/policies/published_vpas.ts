/**
 * Publishes recommendations in VerticalPodAutoscalers of mode `Off`, for policies with `publishVPA`.
 *
 * @module
 */
import { ApiError } from "../../../shared/api/api_error.ts";
import type { VerticalPodAutoscaler } from "../../../shared/api/autoscalers.ts";
import type { Informer } from "../../../shared/control/informer.ts";
import { objectKey } from "../../../shared/control/object_key.ts";
import type { Permits } from "../../../shared/control/permits.ts";
import type { Log } from "../../../shared/log.ts";
import { publishedVPA } from "../../../shared/rightsizing/published_vpa.ts";
import { reachesThreshold } from "../../../shared/rightsizing/guards/policy_guards.ts";
import { workloadKey } from "../../../shared/rightsizing/policy_match.ts";
import type { StoredPolicy } from "../../../shared/rightsizing/policy_spec.ts";
import type { ContainerRecommendation } from "../../../shared/rightsizing/recommend.ts";
import { policyWarning } from "../events.ts";
import type { RightsizingEvents } from "../ports.ts";
import type { VPAPublisher } from "../../../shared/rightsizing/ports.ts";
import type { CycleOutcome, ReconciledWorkload } from "./policy_cycle.ts";

/** Dependencies of the publisher. */
export interface PublishedVPAParts {
  readonly cache: Pick<Informer<VerticalPodAutoscaler>, "get" | "all">;
  readonly publisher: VPAPublisher;
  readonly events: RightsizingEvents;
  readonly log: Log;
}

/** The values last written to a VPA. */
interface Written {
  readonly workload: string;
  readonly uid: string;
  /** Empty: the VPA was created, and has no values yet. */
  readonly values: readonly ContainerRecommendation[];
}

/** A smaller change is not written: usage moves by a byte in each cycle. */
const LEAST_CHANGE = { percent: 1 };

const NOT_SERVED = "the server knows no VerticalPodAutoscalers: their definition is not installed";

/** The published VPAs. */
export class PublishedVPAs {
  readonly #parts: PublishedVPAParts;
  /** By namespace and name of the VPA. */
  readonly #written = new Map<string, Written>();
  /** Reported failures by workload, until it is published: UID of the policy, and the problem. */
  readonly #reported = new Map<string, { readonly policy: string; readonly problem: string }>();

  constructor(parts: PublishedVPAParts) {
    this.#parts = parts;
  }

  /**
   * Writes recommendations to VPAs where they differ by a percent. A failure is reported on the policy once,
   * and retried in the next cycle.
   */
  async publish(
    policy: StoredPolicy,
    { reconciled, permits, signal }: Pick<CycleOutcome, "reconciled"> & {
      readonly permits: Permits;
      readonly signal: AbortSignal;
    },
  ): Promise<void> {
    if (policy.spec?.updateStrategy.publishVPA !== true) return;
    let isServed = true;
    const publish = async (one: ReconciledWorkload): Promise<void> => {
      if (signal.aborted || !isServed) return;
      if (one.outcome.record.recommendations.length === 0) return;
      const workload = workloadKey(one.workload);
      const problem = await this.#write(one);
      if (problem === undefined) this.#reported.delete(workload);
      else this.#report(policy, { workload, problem });
      if (problem === NOT_SERVED) isServed = false;
    };
    await Promise.all(reconciled.map((one) => permits.run(() => publish(one))));
  }

  /** Deletes the VPAs of all workloads but these, by key. */
  async keepOnly(keep: (workload: string) => boolean): Promise<void> {
    for (const [key, { workload }] of this.#written) if (!keep(workload)) this.#written.delete(key);
    for (const workload of this.#reported.keys()) {
      if (!keep(workload)) this.#reported.delete(workload);
    }
    const { cache, publisher, log } = this.#parts;
    for (const { metadata, target: { kind, name }, published } of [...cache.all()]) {
      if (published === undefined || keep(`${kind}/${metadata.namespace}/${name}`)) continue;
      try {
        await publisher.remove(metadata);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        if (error.status === 404 || error.status === 409) continue;
        const vpa = objectKey(metadata);
        log.warn("Failed to delete a published VPA", { vpa, error: error.message });
      }
    }
  }

  /** Writes one VPA; returns the problem if it can't be published. */
  async #write(
    { workload, outcome: { record: { recommendations: values } } }: ReconciledWorkload,
  ): Promise<string | undefined> {
    const { cache, publisher } = this.#parts;
    const vpa = publishedVPA(workload, values);
    const key = objectKey(vpa.metadata);
    const found = cache.get(key);
    if (found !== undefined && found.published === undefined) {
      return `VPA ${key} belongs to another owner`;
    }
    const before = this.#written.get(key);
    let uid = found?.metadata.uid;
    if (uid !== undefined && before?.uid === uid && isNear(before.values, values)) return undefined;
    const owner = workloadKey(workload);
    try {
      if (uid === undefined) {
        uid = await publisher.create(vpa);
        this.#written.set(key, { workload: owner, uid, values: [] });
      }
      await publisher.recommend(vpa, uid);
      this.#written.set(key, { workload: owner, uid, values });
      return undefined;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (uid !== undefined) return error.message;
      // The cache does not have the VPA that was created a moment ago.
      if (error.status === 409 && before !== undefined) return undefined;
      return error.status === 404 ? NOT_SERVED : error.message;
    }
  }

  /** Reports a problem, unless the same one was reported on the policy for another workload. */
  #report(
    policy: StoredPolicy,
    { workload, problem }: { readonly workload: string; readonly problem: string },
  ): void {
    const { uid } = policy.metadata;
    const isKnown = [...this.#reported.values()].some((one) =>
      one.policy === uid && one.problem === problem
    );
    this.#reported.set(workload, { policy: uid, problem });
    if (isKnown) return;
    const { log, events } = this.#parts;
    log.warn("Failed to publish a VPA", { workload, problem });
    const message = `${workload}: ${problem}`;
    const warning = { event: "UpdateFailed", reason: "VPANotPublished", message } as const;
    events.emit(policyWarning(policy, warning));
  }
}

function isNear(
  before: readonly ContainerRecommendation[],
  now: readonly ContainerRecommendation[],
): boolean {
  return before.length === now.length && now.every(({ container, cpu, memory }, index) => {
    const was = before[index];
    return was?.container === container && !reachesThreshold(was.cpu, cpu, LEAST_CHANGE) &&
      !reachesThreshold(was.memory, memory, LEAST_CHANGE);
  });
}
