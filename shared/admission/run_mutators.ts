/**
 * Mutators change objects before they are stored. They run one after the other. The failure of one does not
 * affect the others, and never keeps an object from being stored.
 *
 * @module
 */
import type { AdmissionRequest } from "./admission_review.ts";
import type { JSONPatchOperation } from "./json_patch.ts";
import type { Clock } from "../clock.ts";
import { within } from "../control/time_limit.ts";

/** The changes of an object. */
export interface Mutation {
  /** Steps on the object of the request; may be empty if there are only warnings. */
  readonly patch: readonly JSONPatchOperation[];
  /** Warnings for the client that sent the object; kubectl shows them. */
  readonly warnings?: readonly string[];
}

/** Changes objects of certain kinds. */
export interface Mutator {
  /** In warnings, metrics and the log, for instance `rightsizing`. */
  readonly name: string;
  /**
   * The changes of the object; undefined if it does not concern this mutator. Each mutator sees the object as
   * it was sent, so no two mutators may change the same field. A server may send an object again after another
   * webhook has changed it, so the second call should return no changes. `signal` is aborted when the caller no
   * longer waits.
   */
  mutate(
    request: AdmissionRequest,
    signal: AbortSignal,
  ): Mutation | undefined | Promise<Mutation | undefined>;
}

/** The failure of a mutator. */
export interface MutatorFailure {
  readonly mutator: string;
  /** A message for the log, not for the client that sent the object. */
  readonly error: string;
}

/** The changes of all mutators. */
export interface MutatorsOutcome {
  readonly patch: readonly JSONPatchOperation[];
  readonly warnings: readonly string[];
  readonly failures: readonly MutatorFailure[];
}

/**
 * Runs the mutators, and joins their patches in order. A mutator that throws or is too late adds none, and a
 * warning says so.
 */
export async function runMutators(
  request: AdmissionRequest,
  mutators: readonly Mutator[],
  { clock, withinMs }: {
    readonly clock: Clock;
    /** For all of them together, ms. */
    readonly withinMs: number;
  },
): Promise<MutatorsOutcome> {
  const untilMs = clock.monotonic() + withinMs;
  const mutations: Mutation[] = [];
  const failures: MutatorFailure[] = [];
  for (const mutator of mutators) {
    try {
      const ms = untilMs - clock.monotonic();
      const mutation = await within((signal) => mutator.mutate(request, signal), {
        clock,
        ms,
        onTimeout,
      });
      if (mutation !== undefined) mutations.push(mutation);
    } catch (error) {
      failures.push({ mutator: mutator.name, error: String(error) });
    }
  }
  return {
    patch: mutations.flatMap(({ patch }) => patch),
    warnings: [
      ...mutations.flatMap(({ warnings = [] }) => warnings),
      ...failures.map(({ mutator }) =>
        `${mutator} failed and may have left the object as it was sent`
      ),
    ],
    failures,
  };
}

/** Throws the failure of a mutator that took too long. */
function onTimeout(): never {
  throw new RangeError("Cannot wait for the mutator: it did not answer in time");
}
