/**
 * A rule of rightsizing as the back-test plays it: it is given what was used, and asked what to
 * request. It is never handed the history, so it can't look ahead.
 *
 * @module
 */
import type { ResourceName } from "../../../shared/api/pod.ts";

/** Units everywhere: ms; millicores or bytes. */
export interface UsageSample {
  readonly atMs: number;
  /** Measured usage: no more than the limit, where there is one. */
  readonly usage: number;
  /** The request at that time; absent before the first. */
  readonly inForce?: number;
  /** More was wanted than the limit let through. */
  readonly throttled?: true;
}

/** A container went over its memory limit. */
export interface Kill {
  readonly atMs: number;
  readonly inForce: number;
  readonly limit: number;
}

/** A value that a rule would set. */
export interface Proposal {
  readonly value: number;
  /** Where it takes what is set for good enough, for an updater that asks. */
  readonly lower?: number;
  readonly upper?: number;
  /** The largest sample that it stands on. */
  readonly peak?: number;
}

/** A rule at work on one history. */
export interface RuleRun {
  /** Samples come in the order of time. */
  observe(sample: UsageSample): void;
  /** Comes after the sample of its time. */
  killed(kill: Kill): void;
  /** By what came before `atMs`; nothing when that is too little. */
  recommend(atMs: number): Proposal | undefined;
}

/** A rule. */
export interface RightsizingRule {
  /** For instance `coallocator`. */
  readonly name: string;
  /** Its parameters in short; may be empty. */
  readonly setting: string;
  /** A fresh one, which has seen nothing. */
  begin(resource: ResourceName): RuleRun;
}
