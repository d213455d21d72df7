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

/** Hears of it. */
export interface RightsizingObserver {
  /** A cycle has ended; one that failed has no outcome. */
  cycleEnded?(policy: PolicyName, cycle: {
    readonly tookMs: number;
    readonly outcome?: CycleOutcome;
    /** A word of a closed list: what it failed with. */
    readonly error?: string;
  }): void;
  /** A source has answered, or has not. */
  collected?(provider: string, tookMs: number): void;
  /** The policy is gone: so are its series. */
  policyGone?(policy: PolicyName): void;
}
