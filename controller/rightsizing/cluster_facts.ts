/**
 * What the loop asks about the cluster's present state, which copies answer.
 *
 * @module
 */
import type { Pod } from "../../shared/api/pod.ts";
import type {
  RightsizedWorkload,
  RightsizingFacts,
} from "../../shared/rightsizing/guards/rightsizing_facts.ts";
import type { PolicySpec } from "../../shared/rightsizing/policy_spec.ts";
import type { Corrections } from "../../shared/rightsizing/recommend.ts";
import type { LearnedFacts } from "./evaluate_workload.ts";

/** A workload under the policy that has won it. */
export interface WorkloadCase {
  readonly workload: RightsizedWorkload;
  readonly policy: PolicySpec;
  /** Ms since 1970. */
  readonly nowMs: number;
  /** When values were last applied to it, ms since 1970; absent: never. */
  readonly lastAppliedMs?: number;
}

/** What is remembered of the workload. */
export type RememberedFacts = Pick<
  RightsizingFacts,
  "inForce" | "remembered" | "lastAppliedMs" | "denial"
>;

/** The copies' answers. */
export interface ClusterFacts {
  /** Whether the workload controls a pod. */
  owns(workload: RightsizedWorkload): (pod: Pod) => boolean;
  /** All pods of the namespace that have not ended. */
  podsIn(namespace: string): readonly Pod[];
  /** By container: kills for lack of memory and throttling within the policy's window. */
  correctionsOf(one: WorkloadCase): ReadonlyMap<string, Corrections>;
  /** Everything that the guards look at. */
  factsOf(one: WorkloadCase, known: LearnedFacts & RememberedFacts): RightsizingFacts;
  /** Resolves with true once the copies are whole, with false when `signal` is aborted first. */
  whenSynced(signal: AbortSignal): Promise<boolean>;
  /** Forgets what was seen of all workloads but those that are to be kept, by key. */
  keepOnly(keep: (workload: string) => boolean): void;
}
