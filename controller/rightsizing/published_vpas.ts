/**
 * Recommendations in VerticalPodAutoscalers of mode `Off`, for others to read: those of policies with
 * `publishVPA`, and nobody else's.
 *
 * @module
 */
import { type PublishedVPA, publishedVPA } from "../../shared/actuation/methods/published_vpa.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import type { VerticalPodAutoscaler } from "../../shared/api/vertical_pod_autoscaler.ts";
import type { Informer } from "../../shared/control/informer.ts";
import type { Log } from "../../shared/log.ts";
import { eventMessage } from "../../shared/rightsizing/guards/workload_events.ts";
import { workloadKey } from "../../shared/rightsizing/policy_choice.ts";
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
   * wants that. What can't be done is told on the policy, each reason once, and tried in the next cycle.
   */
  tell(
    policy: StoredPolicy,
    options: Pick<CycleOutcome, "looked"> & { readonly signal: AbortSignal },
  ): Promise<void>;
  /** Takes all away but those of the workloads, by key, that are to be kept. */
  keepOnly(keep: (workload: string) => boolean): Promise<void>;
}

/** What was last written. */
interface Written {
  readonly workload: string;
  readonly uid: string;
  readonly status: string;
}

const NOT_SERVED =
  "the server knows no VerticalPodAutoscalers: nobody has installed their definition";

/** None was written by this process. */
export function createPublishedVPAs(
  { copy, publisher, events, log }: PublishedVPAParts,
): PublishedVPAs {
  /** By namespace and name. */
  const written = new Map<string, Written>();
  /** Why nothing could be published, by UID of the policy, as far as it was told. */
  const told = new Map<string, Set<string>>();

  /** Why it can't be published; undefined: it is. */
  async function publish(workload: string, vpa: PublishedVPA): Promise<string | undefined> {
    const { namespace, name } = vpa.metadata;
    const key = `${namespace}/${name}`;
    const found = copy.get(key);
    if (found !== undefined && found.published === undefined) {
      return `VPA ${key} is somebody else's`;
    }
    const status = JSON.stringify(vpa.status);
    const before = written.get(key);
    let uid = found?.metadata.uid;
    if (uid !== undefined && before?.uid === uid && before.status === status) return undefined;
    try {
      if (uid === undefined) {
        uid = await publisher.create(vpa);
        written.set(key, { workload, uid, status: "" });
      }
      await publisher.recommend(vpa, uid);
      written.set(key, { workload, uid, status });
      return undefined;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (uid !== undefined) return error.message;
      // The copy does not know yet what was made a moment ago.
      if (error.status === 409 && before !== undefined) return undefined;
      return error.status === 404 ? NOT_SERVED : error.message;
    }
  }

  return {
    async tell(policy, { looked, signal }) {
      if (policy.spec?.updateStrategy.publishVPA !== true) return;
      const known = told.get(policy.metadata.uid) ?? new Set();
      told.set(policy.metadata.uid, known);
      for (const { workload, outcome: { record: { recommendations } } } of looked) {
        if (signal.aborted) return;
        if (recommendations.length === 0) continue;
        const key = workloadKey(workload);
        const problem = await publish(key, publishedVPA(workload, recommendations));
        if (problem !== undefined && !known.has(problem)) {
          known.add(problem);
          log.warn("A recommendation can't be published as a VPA", { workload: key, problem });
          events.emit({
            about: policySubject(policy),
            type: "Warning",
            reason: "UpdateFailed",
            message: eventMessage("VPANotPublished", `${key}: ${problem}`),
          });
        }
        if (problem === NOT_SERVED) return;
      }
    },
    async keepOnly(keep) {
      for (const [key, { workload }] of written) if (!keep(workload)) written.delete(key);
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
