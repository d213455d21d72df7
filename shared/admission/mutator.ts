/**
 * A mutator changes objects before they are stored.
 *
 * @module
 */
import type { AdmissionRequest } from "./admission_review.ts";
import type { JSONPatchOperation } from "./json_patch.ts";

/** What becomes of an object. */
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
   * What becomes of the object; undefined: it is nothing to this mutator. It sees the object as those
   * before it have left it. A server may ask again about an object that another webhook has changed
   * since, so the second time there should be nothing left to do. `signal` is aborted when the caller
   * no longer waits any more.
   */
  mutate(
    request: AdmissionRequest,
    signal: AbortSignal,
  ): Mutation | undefined | Promise<Mutation | undefined>;
}
