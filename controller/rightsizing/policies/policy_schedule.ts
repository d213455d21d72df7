/**
 * When each policy's next cycle is due, and which workloads it reconciles. Policies and workloads go by their keys.
 *
 * @module
 */
import type { Workload } from "../../../shared/api/workload.ts";
import type { Clock } from "../../../shared/clock.ts";
import { type Backoff, createBackoff } from "../../../shared/control/backoff.ts";
import type { Informer } from "../../../shared/control/informer.ts";
import { objectKey } from "../../../shared/control/object_key.ts";
import { createWorkQueue, type WorkQueue } from "../../../shared/control/work_queue.ts";
import type { Random } from "../../../shared/random.ts";
import {
  affectedPolicies,
  policyFor,
  type PolicyInput,
  workloadKey,
} from "../../../shared/rightsizing/policy_match.ts";
import type { StoredPolicy } from "../../../shared/rightsizing/policy_spec.ts";
import { rightsizedWorkload } from "../../../shared/rightsizing/guards/rightsizing_snapshot.ts";
import type { CycleOutcome } from "./policy_cycle.ts";

/** Sources of the schedule. */
export interface PolicyScheduleParts {
  readonly policies: Pick<Informer<StoredPolicy>, "get" | "all">;
  readonly workloads: () => Iterable<Workload>;
  readonly input: () => PolicyInput;
  readonly clock: Clock;
  readonly random: Random;
}

/** A cycle that begins now. */
export interface DueCycle {
  readonly policy: StoredPolicy;
  /** By the monotonic clock. */
  readonly begunAt: number;
  /** Workloads that are reconciled; undefined: all. */
  readonly only: ReadonlySet<string> | undefined;
  /** Aborted where the policy changes: the cycle follows the old spec. */
  readonly signal: AbortSignal;
}

/** Delay of a cycle for new workloads, ms: they are often created in groups, which one cycle reconciles. */
const NEW_WORKLOADS_MS = 2000;
/** The longest wait between two attempts after a temporary failure, ms. */
const LONGEST_RETRY_MS = 300_000;
/** A cycle begins 5 to 10 % of the interval early, so that policies do not run in step. */
const LEAST_JITTER = 0.05;

/** The schedule. */
export class PolicySchedule {
  /** Keys of policies that are due. */
  readonly queue: WorkQueue;
  readonly #parts: PolicyScheduleParts;
  readonly #retries: Backoff;
  /** The last queued version of each policy. */
  readonly #versions = new Map<string, StoredPolicy>();
  /** When the next cycle over all workloads is due, by the monotonic clock. */
  readonly #dueAt = new Map<string, number>();
  /** Policies with a new spec: their next cycle is over all workloads. */
  readonly #changed = new Set<string>();
  readonly #running = new Map<string, AbortController>();
  /** Identities of workloads that were received before. */
  readonly #seen = new Set<string>();
  /** UIDs of workloads that are new or must be retried, by key. */
  readonly #pending = new Map<string, string>();

  constructor(parts: PolicyScheduleParts) {
    this.#parts = parts;
    this.queue = createWorkQueue(parts.clock);
    this.#retries = createBackoff({ random: parts.random, maxMs: LONGEST_RETRY_MS });
  }

  /**
   * Queues a policy that was created, deleted or has another spec, and aborts its running cycle. Returns its
   * versions before and now, as far as there are; undefined where at most its status or labels have changed.
   */
  policyChanged(key: string): readonly StoredPolicy[] | undefined {
    const now = this.#parts.policies.get(key);
    const before = this.#versions.get(key);
    if (before !== undefined && now !== undefined && isSameSpec(before, now)) return undefined;
    if (now === undefined) this.#versions.delete(key);
    else this.#versions.set(key, now);
    this.#running.get(key)?.abort();
    this.#changed.add(key);
    this.queue.add(key);
    return [before, now].filter((one) => one !== undefined);
  }

  /** Queues other policies that may win or lose a workload by the change of one policy from version to version. */
  queueAffected(key: string, versions: readonly StoredPolicy[]): void {
    const { policies, input, workloads } = this.#parts;
    const affected = affectedPolicies(versions, {
      ...input(),
      workloads: workloads(),
      policies: [...policies.all()].filter(({ metadata }) => objectKey(metadata) !== key),
    });
    for (const { metadata } of affected) this.queue.add(objectKey(metadata), NEW_WORKLOADS_MS);
  }

  /** Queues the policy of a workload that is new. */
  workloadChanged(found: Workload | undefined): void {
    const workload = found && rightsizedWorkload(found);
    if (workload === undefined) return;
    const identity = identityOf(workload);
    if (this.#seen.has(identity)) return;
    this.#seen.add(identity);
    this.#pending.set(workloadKey(workload), workload.metadata.uid);
    const winner = this.#winnerOf(workload);
    if (winner !== undefined) this.queue.add(objectKey(winner.metadata), NEW_WORKLOADS_MS);
  }

  /** Begins a policy's cycle. `term` aborts all cycles. */
  begin(policy: StoredPolicy, term: AbortSignal): DueCycle {
    const key = objectKey(policy.metadata);
    const begunAt = this.#parts.clock.monotonic();
    const isDue = this.#changed.delete(key) || begunAt >= (this.#dueAt.get(key) ?? -Infinity);
    const stop = new AbortController();
    this.#running.set(key, stop);
    return {
      policy,
      begunAt,
      only: isDue ? undefined : new Set(this.#pending.keys()),
      signal: AbortSignal.any([term, stop.signal]),
    };
  }

  /** Notes the outcome of a cycle; returns the time until failed workloads are retried, ms, or Infinity. */
  reconciled(cycle: DueCycle, outcome: CycleOutcome): number {
    const { policy: { metadata, spec }, begunAt, only } = cycle;
    if (only === undefined && !outcome.aborted && spec !== undefined) {
      const share = 1 - LEAST_JITTER * (1 + this.#parts.random.next());
      this.#dueAt.set(objectKey(metadata), begunAt + spec.intervalMs * share);
    }
    let retryMs = Infinity;
    for (const { workload, outcome: { failure } } of outcome.reconciled) {
      const key = workloadKey(workload);
      if (failure?.next === "back-off" || failure?.next === "fresh") {
        this.#pending.set(key, workload.metadata.uid);
        retryMs = Math.min(retryMs, Math.max(this.#retries.next(key), failure.retryAfterMs ?? 0));
        continue;
      }
      this.#retries.reset(key);
      // A workload that was recreated during the cycle is still new.
      if (this.#pending.get(key) === workload.metadata.uid) this.#pending.delete(key);
    }
    return retryMs;
  }

  /** Ends a cycle; one without an outcome is repeated. */
  end({ policy, only }: DueCycle, { hasOutcome }: { readonly hasOutcome: boolean }): void {
    const key = objectKey(policy.metadata);
    this.#running.delete(key);
    if (only === undefined && !hasOutcome) this.#changed.add(key);
  }

  /** Until the policy's next cycle over all workloads, ms. */
  dueInMs(key: string): number {
    return Math.max(0, (this.#dueAt.get(key) ?? 0) - this.#parts.clock.monotonic());
  }

  /** Deletes the state of a policy that is deleted. */
  policyGone(key: string): void {
    this.#dueAt.delete(key);
    this.#changed.delete(key);
  }

  /** Deletes the state of workloads that are deleted, or that no policy selects. */
  keepOnly(workloads: ReadonlyMap<string, Workload>): void {
    for (const key of [...this.#pending.keys()]) {
      const workload = workloads.get(key);
      if (workload !== undefined && this.#winnerOf(workload) !== undefined) continue;
      this.#pending.delete(key);
      this.#retries.reset(key);
    }
    const identities = new Set(Array.from(workloads.values(), identityOf));
    for (const identity of [...this.#seen]) {
      if (!identities.has(identity)) this.#seen.delete(identity);
    }
  }

  #winnerOf(workload: Pick<Workload, "kind" | "metadata">): StoredPolicy | undefined {
    const { policies, input } = this.#parts;
    return policyFor(workload, { ...input(), policies: policies.all() });
  }
}

function isSameSpec({ metadata: one }: StoredPolicy, { metadata: other }: StoredPolicy): boolean {
  return one.uid === other.uid && one.generation === other.generation;
}

/** A workload that was deleted and created again is another one. */
function identityOf(workload: Pick<Workload, "kind" | "metadata">): string {
  return `${workloadKey(workload)} ${workload.metadata.uid}`;
}
