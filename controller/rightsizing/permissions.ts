/**
 * What the controller must be allowed to do for rightsizing, and what it may not do, as far as it was asked.
 *
 * @module
 */
import { ApiError } from "../../shared/api/api_error.ts";
import type { WorkloadKind } from "../../shared/api/workload.ts";
import type { Clock } from "../../shared/clock.ts";
import type { MissingPermission } from "../../shared/rightsizing/guards/rightsizing_facts.ts";
import {
  matchesWorkload,
  type PolicyInput,
  type ReadablePolicy,
  type WorkloadView,
} from "../../shared/rightsizing/policy_match.ts";
import type { AccessRight } from "../start_check.ts";

const POLICIES = { group: "optipod.io", resource: "optimizationpolicies" } as const;
const REPLICA_SETS = { group: "apps", resource: "replicasets" } as const;
const REPORTS = { group: "optipod.io", resource: "recommendationreports" } as const;

/** Each right by itself, so that a missing one can be named. */
export function rightsizingRights(): readonly AccessRight[] {
  return [
    ...["list", "watch"].flatMap((verb) => [{ verb, ...POLICIES }, { verb, ...REPLICA_SETS }]),
    { verb: "update", ...POLICIES, subresource: "status" },
    ...["list", "watch", "create", "patch", "delete"].map((verb) => ({ verb, ...REPORTS })),
  ];
}

/** Asks the server. */
export interface MethodRights {
  /**
   * What the account may not do to workloads of the kind, by namespace. Throws an `ApiError` when the
   * server does not answer.
   */
  missing(
    kind: WorkloadKind,
    namespaces: readonly string[],
  ): Promise<ReadonlyMap<string, readonly MissingPermission[]>>;
}

/** A workload, as far as rights go. */
export interface RightsPlace {
  readonly kind: WorkloadKind;
  readonly metadata: { readonly namespace: string };
}

/** The last answers. */
export interface PermissionMemory {
  /**
   * Asks about these workloads where the last answer is too old, and forgets answers about namespaces
   * and kinds without any.
   */
  refresh(workloads: Iterable<RightsPlace>): Promise<void>;
  /** Forgets an answer: the server has forbidden a write. */
  forget(workload: RightsPlace): void;
  /** Empty where it was never asked: then the server refuses the write. */
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
   * How long an answer counts that something is missing, ms: the right may be granted soon.
   *
   * @default {30000}
   */
  readonly missingFreshMs?: number;
}

interface Answer {
  readonly missing: readonly MissingPermission[];
  readonly atMs: number;
}

/** Nothing is known. Where the server does not answer, the last answers stay. */
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

  async function ask(kind: WorkloadKind, namespaces: readonly string[]): Promise<void> {
    try {
      for (const [namespace, missing] of await rights.missing(kind, namespaces)) {
        answers.set(keyOf({ kind, metadata: { namespace } }), { missing, atMs: clock.monotonic() });
      }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
  }

  return {
    async refresh(workloads) {
      const places = new Map(
        Array.from(workloads, (workload) => [keyOf(workload), workload] as const),
      );
      for (const key of [...answers.keys()]) if (!places.has(key)) answers.delete(key);
      const due = [...places].filter(([key]) => clock.monotonic() >= endMs(answers.get(key)));
      const byKind = Map.groupBy(due, ([, { kind }]) => kind);
      for (const [kind, ones] of byKind) {
        await ask(kind, ones.map(([, { metadata: { namespace } }]) => namespace));
      }
    },
    forget: (workload) => void answers.delete(keyOf(workload)),
    missing: (workload) => answers.get(keyOf(workload))?.missing ?? [],
  };
}

/**
 * One workload for each namespace and kind of which an enabled policy has any: what the account may do
 * there is to be known.
 */
export function watchedNamespaces<W extends WorkloadView>(
  workloads: Iterable<W>,
  { policies, ...around }: PolicyInput & { readonly policies: readonly ReadablePolicy[] },
): readonly W[] {
  const found = new Map<string, W>();
  for (const workload of workloads) {
    const { kind, metadata: { namespace } } = workload;
    const place = `${namespace}/${kind}`;
    if (found.has(place)) continue;
    if (policies.some((policy) => matchesWorkload(policy, workload, around))) {
      found.set(place, workload);
    }
  }
  return [...found.values()];
}
