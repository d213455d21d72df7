/**
 * Recommendations in VerticalPodAutoscalers of mode `Off`, for others to read: those of policies with
 * `publishVPA`, and nobody else's.
 *
 * @module
 */
import { ApiError } from "../../shared/api/api_error.ts";
import type { VerticalPodAutoscaler } from "../../shared/api/autoscalers.ts";
import type { Informer } from "../../shared/control/informer.ts";
import type { Permits } from "../../shared/control/permits.ts";
import type { Log } from "../../shared/log.ts";
import { publishedVPA } from "../../shared/rightsizing/apply/published_vpa.ts";
import { isWorth } from "../../shared/rightsizing/guards/pace_guards.ts";
import { eventMessage } from "../../shared/rightsizing/guards/workload_events.ts";
import { workloadKey } from "../../shared/rightsizing/policy_choice.ts";
import type { ContainerRecommendation } from "../../shared/rightsizing/recommendation.ts";
import type { StoredPolicy } from "../../shared/rightsizing/stored_policy.ts";
import type { RightsizingEvents } from "./loop_ports.ts";
import type { CycleOutcome } from "./policy_cycle.ts";
import type { VPAPublisher } from "./policy_ports.ts";
import { policySubject } from "./told_workloads.ts";

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
   * Brings the VPAs of workloads that a cycle has looked at to what is recommended, where the policy
   * wants that, and where they differ by enough to be seen. What can't be done is told on the policy, each
   * reason once until it is over, and tried in the next cycle.
   */
  tell(
    policy: StoredPolicy,
    options: Pick<CycleOutcome, "looked"> & {
      readonly permits: Permits;
      readonly signal: AbortSignal;
    },
  ): Promise<void>;
  /** Takes all away but those of the workloads, by key, that are to be kept. */
  keepOnly(keep: (workload: string) => boolean): Promise<void>;
}

/** What was last written. */
interface Written {
  readonly workload: string;
  readonly uid: string;
  /** Empty: the object was made, and has no values yet. */
  readonly values: readonly ContainerRecommendation[];
}

/** What was told of a workload that can't be published. */
interface Told {
  /** UID of the policy. */
  readonly policy: string;
  readonly problem: string;
}

/** Less is not written: usage moves by a byte in each cycle, and nobody reads VPAs to the byte, %. */
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
  const told = new Map<string, Told>();

  /** Why it can't be published; undefined: it is. */
  async function publish(
    { workload, outcome: { record: { recommendations: values } } }: CycleOutcome["looked"][number],
  ): Promise<string | undefined> {
    const vpa = publishedVPA(workload, values);
    const { namespace, name } = vpa.metadata;
    const key = `${namespace}/${name}`;
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

  function tellProblem(policy: StoredPolicy, workload: string, problem: string): void {
    const { uid } = policy.metadata;
    const isKnown = [...told.values()].some((one) => one.policy === uid && one.problem === problem);
    told.set(workload, { policy: uid, problem });
    if (isKnown) return;
    log.warn("A recommendation can't be published as a VPA", { workload, problem });
    events.emit({
      about: policySubject(policy),
      type: "Warning",
      reason: "UpdateFailed",
      message: eventMessage("VPANotPublished", `${workload}: ${problem}`),
    });
  }

  return {
    async tell(policy, { looked, permits, signal }) {
      if (policy.spec?.updateStrategy.publishVPA !== true) return;
      let isServed = true;
      await Promise.all(
        looked.map((one) =>
          permits.run(async () => {
            if (signal.aborted || !isServed) return;
            if (one.outcome.record.recommendations.length === 0) return;
            const workload = workloadKey(one.workload);
            const problem = await publish(one);
            if (problem === undefined) told.delete(workload);
            else tellProblem(policy, workload, problem);
            if (problem === NOT_SERVED) isServed = false;
          })
        ),
      );
    },
    async keepOnly(keep) {
      for (const [key, { workload }] of written) if (!keep(workload)) written.delete(key);
      for (const workload of told.keys()) if (!keep(workload)) told.delete(workload);
      for (const { metadata, target: { kind, name }, published } of [...copy.all()]) {
        if (published === undefined || keep(`${kind}/${metadata.namespace}/${name}`)) continue;
        try {
          await publisher.remove(metadata);
        } catch (error) {
          if (!(error instanceof ApiError)) throw error;
          if (error.status === 404 || error.status === 409) continue;
          const vpa = `${metadata.namespace}/${metadata.name}`;
          log.warn("A published VPA can't be taken away", { vpa, error: error.message });
        }
      }
    },
  };
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
