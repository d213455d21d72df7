/**
 * Mutators change objects before they are stored. They are asked one after the other, so that the failure
 * of one is nothing to the others and never keeps an object from being stored.
 *
 * @module
 */
import type { AdmissionRequest, SentObject } from "./admission_review.ts";
import { applyJSONPatch, type JSONPatchOperation } from "./json_patch.ts";
import type { Clock } from "../clock.ts";
import { within } from "../control/time_limit.ts";

/** The changes of an object. */
export interface Mutation {
  /** Steps on the object of the request. May be none, where there is only something to say. */
  readonly patch: readonly JSONPatchOperation[];
  /** Warnings for the client that sent the object; kubectl shows them. */
  readonly warnings?: readonly string[];
  /**
   * Remembers that the answer was given. Called once the patch is part of it, and never for a dry run:
   * whatever is to outlast the request belongs here.
   */
  readonly remember?: () => void;
}

/** A kind of work. */
export interface Mutator {
  /** In warnings, metrics and the log, for instance `rightsizing`. */
  readonly name: string;
  /**
   * The mutation of the object; undefined: it is nothing to this mutator. It sees the object as those
   * before it have left it. A server may ask again about an object that another webhook has changed
   * since, so the second time there should be nothing left to do. `signal` is aborted when the caller
   * no longer waits any more.
   */
  mutate(
    request: AdmissionRequest,
    signal: AbortSignal,
  ): Mutation | undefined | Promise<Mutation | undefined>;
}

/** How long to wait for them. */
export interface MutatorsOptions {
  readonly clock: Clock;
  /** For all of them together, ms. */
  readonly withinMs: number;
}

/** One that failed. */
export interface MutatorFailure {
  readonly mutator: string;
  /** A message for the log, not for the client that sent the object. */
  readonly error: string;
}

/** The mutation of the object by all of them. */
export interface MutatorsOutcome {
  readonly patch: readonly JSONPatchOperation[];
  readonly warnings: readonly string[];
  readonly failures: readonly MutatorFailure[];
}

/** A mutation with the object as it leaves it. */
interface Step extends Mutation {
  readonly object: SentObject | undefined;
}

/**
 * Their steps in order. One that throws, comes too late or answers with a patch that can't be applied
 * has no part in it, a warning says so, and the next one sees the object without it.
 */
export async function runMutators(
  request: AdmissionRequest,
  mutators: readonly Mutator[],
  { clock, withinMs }: MutatorsOptions,
): Promise<MutatorsOutcome> {
  const untilMs = clock.monotonic() + withinMs;
  const steps: (Step & { readonly name: string })[] = [];
  const failures: MutatorFailure[] = [];
  for (const mutator of mutators) {
    const { name } = mutator;
    const object = steps.at(-1)?.object ?? request.object;
    const seen: AdmissionRequest = object === undefined ? request : { ...request, object };
    try {
      const ms = untilMs - clock.monotonic();
      const mutation = await within((signal) => mutator.mutate(seen, signal), { clock, ms, late });
      if (mutation !== undefined) steps.push({ name, ...applied(seen, mutation) });
    } catch (error) {
      failures.push({ mutator: name, error: String(error) });
    }
  }
  for (const { name, remember } of request.dryRun ? [] : steps) {
    try {
      remember?.();
    } catch (error) {
      failures.push({ mutator: name, error: String(error) });
    }
  }
  const failed = new Set(failures.map(({ mutator }) => mutator));
  return {
    patch: steps.flatMap(({ patch }) => patch),
    warnings: [
      ...steps.flatMap(({ warnings = [] }) => warnings),
      ...[...failed].map((name) => `${name} failed and may have left the object as it was sent`),
    ],
    failures,
  };
}

/** The mutation as it is sent, with what it makes of the object. Throws for what is no JSON. */
function applied({ object }: AdmissionRequest, mutation: Mutation): Step {
  const patch: readonly JSONPatchOperation[] = JSON.parse(JSON.stringify(mutation.patch));
  const after = patch.length === 0 ? object : applyJSONPatch(object, patch);
  return { ...mutation, patch, object: after as SentObject | undefined };
}

/** Throws the failure of a mutator that is late. */
function late(): never {
  throw new RangeError("Cannot wait for the mutator: it did not answer in time");
}
