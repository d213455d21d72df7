/**
 * Who wants to know what rightsizing does, for metrics. Each method is called at once and must be quick.
 *
 * @module
 */
import type { CycleOutcome } from "./policy_cycle.ts";

/** Names a policy. */
export interface PolicyName {
  readonly namespace: string;
  readonly name: string;
}

/** What a cycle can fail with as a whole, before or after it had an outcome. */
export type CycleFailure = "CycleFailed" | "StatusNotWritten";

/** Hears of it. */
export interface RightsizingObserver {
  /** A cycle has ended; one that failed has no outcome, or one that could not be told. */
  cycleEnded?(policy: PolicyName, cycle: {
    readonly tookMs: number;
    readonly outcome?: CycleOutcome;
    readonly error?: CycleFailure;
  }): void;
  /** A source was asked and has answered, or has not; `provider` is the policies' word for it. */
  collected?(provider: string, tookMs: number): void;
  /**
   * A template was to be changed by server-side apply. `outcome`: `accepted`, a word of `RefusalKind`, or
   * `failed` for what is no answer of the server.
   */
  templatePatched?(patch: { readonly kind: string; readonly outcome: string }): void;
  /** The policy is gone: so are its series. */
  policyGone?(policy: PolicyName): void;
}
