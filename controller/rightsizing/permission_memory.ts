/**
 * What the controller may not do, as far as it was asked.
 *
 * @module
 */
import { ApiError } from "../../shared/api/api_error.ts";
import type { WorkloadKind } from "../../shared/api/workload.ts";
import type { Clock } from "../../shared/clock.ts";
import type { MissingPermission } from "../../shared/rightsizing/guards/rightsizing_facts.ts";

/** Asks the server. */
export interface MethodRights {
  /**
   * What the account may not do to workloads of the kind in the namespace. Throws an `ApiError` when the
   * server does not answer.
   */
  missing(namespace: string, kind: WorkloadKind): Promise<readonly MissingPermission[]>;
}

/** A workload, as far as rights go. */
export interface RightsPlace {
  readonly kind: WorkloadKind;
  readonly metadata: { readonly namespace: string };
}

/** What was last heard. */
export interface PermissionMemory {
  /** Asks about these workloads where the last answer is too old; for the beginning of a cycle. */
  refresh(workloads: Iterable<RightsPlace>): Promise<void>;
  /** Nothing where it was never asked: then the server's refusal tells. */
  missing(workload: RightsPlace): readonly MissingPermission[];
}

/** What the memory needs. */
export interface PermissionMemoryOptions {
  readonly rights: MethodRights;
  readonly clock: Pick<Clock, "monotonic">;
  /**
   * How long an answer counts that nothing is missing, ms. Rights are seldom taken, and what a 403 says
   * comes at once.
   *
   * @default {300000}
   */
  readonly freshMs?: number;
  /**
   * How long one counts that something is missing, ms. Somebody may have been told of it just now.
   *
   * @default {30000}
   */
  readonly missingFreshMs?: number;
}

interface Answer {
  readonly missing: readonly MissingPermission[];
  readonly atMs: number;
}

/** Nothing is known. A server that does not answer leaves what was known before. */
export function createPermissionMemory(
  { rights, clock, freshMs = 300_000, missingFreshMs = 30_000 }: PermissionMemoryOptions,
): PermissionMemory {
  const answers = new Map<string, Answer>();
  const keyOf = ({ kind, metadata: { namespace } }: RightsPlace): string => `${namespace}/${kind}`;

  /** When the answer ends to count, on the monotonic clock. */
  const endMs = (answer: Answer | undefined): number =>
    answer === undefined
      ? -Infinity
      : answer.atMs + (answer.missing.length === 0 ? freshMs : missingFreshMs);

  async function ask(key: string, { kind, metadata: { namespace } }: RightsPlace): Promise<void> {
    try {
      const missing = await rights.missing(namespace, kind);
      answers.set(key, { missing, atMs: clock.monotonic() });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
  }

  return {
    async refresh(workloads) {
      const due = new Map<string, RightsPlace>();
      for (const workload of workloads) {
        const key = keyOf(workload);
        if (clock.monotonic() >= endMs(answers.get(key))) due.set(key, workload);
      }
      // One after the other: there are as many as namespaces, and nobody waits for them.
      for (const [key, workload] of due) await ask(key, workload);
    },
    missing: (workload) => answers.get(keyOf(workload))?.missing ?? [],
  };
}
