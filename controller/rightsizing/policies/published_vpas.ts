/**
 * Recommendations in VerticalPodAutoscalers of mode `Off`, for others to read: those of policies with
 * `publishVPA` alone.
 *
 * @module
 */
import { objectKey } from "../../../shared/control/object_key.ts";
import { publishedVPA } from "../../../shared/rightsizing/published_vpa.ts";
import { ApiError } from "../../../shared/api/api_error.ts";
import type { VerticalPodAutoscaler } from "../../../shared/api/autoscalers.ts";
import type { Informer } from "../../../shared/control/informer.ts";
import type { Permits } from "../../../shared/control/permits.ts";
import type { Log } from "../../../shared/log.ts";
import { isWorth } from "../../../shared/rightsizing/guards/policy_guards.ts";
import { eventMessage } from "../../../shared/rightsizing/guards/workload_events.ts";
import { workloadKey } from "../../../shared/rightsizing/policy_match.ts";
import type { ContainerRecommendation } from "../../../shared/rightsizing/recommend.ts";
import type { StoredPolicy } from "../../../shared/rightsizing/policy_spec.ts";
import type { RightsizingEvents, VPAPublisher } from "../ports.ts";
import type { CycleOutcome } from "./policy_cycle.ts";
import { policySubject } from "../events.ts";

/** What they are published with. */
export interface PublishedVPAParts {
  readonly copy: Pick<Informer<VerticalPodAutoscaler>, "get" | "all">;
  readonly publisher: VPAPublisher;
  readonly events: RightsizingEvents;
  readonly log: Log;
}

/** The published ones. */
export interface PublishedVPAs {
  /**
   * Writes recommendations of reconciled workloads to their VPAs, where the policy wants that and they
   * differ by a percent. A failure is reported on the policy once until it is over, and tried again in
   * the next cycle.
   */
  publish(
    policy: StoredPolicy,
    options: Pick<CycleOutcome, "reconciled"> & {
      readonly permits: Permits;
      readonly signal: AbortSignal;
    },
  ): Promise<void>;
  /** Deletes all but those of the workloads, by key, that are to be kept. */
  keepOnly(keep: (workload: string) => boolean): Promise<void>;
}

/** What was last written. */
interface Written {
  readonly workload: string;
  readonly uid: string;
  /** Empty: the object was made, and has no values yet. */
  readonly values: readonly ContainerRecommendation[];
}

/** A failure that was reported. */
interface ReportedFailure {
  /** UID of the policy. */
  readonly policy: string;
  readonly problem: string;
}

/** A smaller change is not written: usage moves by a byte in each cycle, %. */
const LEAST_CHANGE = { percent: 1 };

const NOT_SERVED =
  "the server knows no VerticalPodAutoscalers: nobody has installed their definition";

/** None was written by this process. */
// deno-lint-ignore house/function-length
export function createPublishedVPAs(
  { copy, publisher, events, log }: PublishedVPAParts,
): PublishedVPAs {
  /** By namespace and name. */
  const written = new Map<string, Written>();
  /** By workload, as long as it lasts. */
  const reported = new Map<string, ReportedFailure>();

  /** Why it can't be published; undefined: it is. */
  async function publishOne(
    { workload, outcome: { record: { recommendations: values } } }:
      CycleOutcome["reconciled"][number],
  ): Promise<string | undefined> {
    const vpa = publishedVPA(workload, values);
    const key = objectKey(vpa.metadata);
    const found = copy.get(key);
    if (found !== undefined && found.published === undefined) {
      return `VPA ${key} is somebody else's`;
    }
    const before = written.get(key);
    let uid = found?.metadata.uid;
    if (uid !== undefined && before?.uid === uid && isNear(before.values, values)) return undefined;
    const of = workloadKey(workload);
    try {
      if (uid === undefined) {
        uid = await publisher.create(vpa);
        written.set(key, { workload: of, uid, values: [] });
      }
      await publisher.recommend(vpa, uid);
      written.set(key, { workload: of, uid, values });
      return undefined;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (uid !== undefined) return error.message;
      // The copy does not know yet what was made a moment ago.
      if (error.status === 409 && before !== undefined) return undefined;
      return error.status === 404 ? NOT_SERVED : error.message;
    }
  }

  function reportProblem(policy: StoredPolicy, workload: string, problem: string): void {
    const { uid } = policy.metadata;
    const isKnown = [...reported.values()].some((one) =>
      one.policy === uid && one.problem === problem
    );
    reported.set(workload, { policy: uid, problem });
    if (isKnown) return;
    log.warn("Failed to publish a VPA", { workload, problem });
    events.emit({
      about: policySubject(policy),
      type: "Warning",
      reason: "UpdateFailed",
      message: eventMessage("VPANotPublished", `${workload}: ${problem}`),
    });
  }

  return {
    async publish(policy, { reconciled, permits, signal }) {
      if (policy.spec?.updateStrategy.publishVPA !== true) return;
      let isServed = true;
      await Promise.all(
        reconciled.map((one) =>
          permits.run(async () => {
            if (signal.aborted || !isServed) return;
            if (one.outcome.record.recommendations.length === 0) return;
            const workload = workloadKey(one.workload);
            const problem = await publishOne(one);
            if (problem === undefined) reported.delete(workload);
            else reportProblem(policy, workload, problem);
            if (problem === NOT_SERVED) isServed = false;
          })
        ),
      );
    },
    async keepOnly(keep) {
      for (const [key, { workload }] of written) if (!keep(workload)) written.delete(key);
      for (const workload of reported.keys()) if (!keep(workload)) reported.delete(workload);
      await removeOthers(keep, { copy, publisher, log });
    },
  };
}

async function removeOthers(
  keep: (workload: string) => boolean,
  { copy, publisher, log }: Pick<PublishedVPAParts, "copy" | "publisher" | "log">,
): Promise<void> {
  for (const { metadata, target: { kind, name }, published } of [...copy.all()]) {
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

function isNear(
  before: readonly ContainerRecommendation[],
  now: readonly ContainerRecommendation[],
): boolean {
  return before.length === now.length && now.every(({ container, cpu, memory }, index) => {
    const was = before[index];
    return was?.container === container && !isWorth(was.cpu, cpu, LEAST_CHANGE) &&
      !isWorth(was.memory, memory, LEAST_CHANGE);
  });
}
