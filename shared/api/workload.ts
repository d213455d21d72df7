/**
 * A workload as this product sees it: does it roll out?
 *
 * @module
 */
import type { ApiObject } from "../control/list_watch.ts";

/** Kinds whose rollouts are followed. */
export type WorkloadKind = "Deployment" | "StatefulSet" | "DaemonSet";

/** Names a workload within a namespace. */
export interface WorkloadRef {
  /** For instance `Deployment`. */
  readonly kind: string;
  readonly name: string;
}

/** The trimmed Deployment, StatefulSet or DaemonSet. */
export interface Workload extends ApiObject {
  readonly kind: WorkloadKind;
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly annotations: Readonly<Record<string, string>>;
  };
  readonly rollout: RolloutState;
}

/** What tells whether pods of an old template are being replaced. */
export interface RolloutState {
  /** True when the controller of the kind has seen the present spec. */
  readonly observed: boolean;
  /** Pods that there should be of the newest template. */
  readonly wanted: number;
  /** Pods that there are of it. */
  readonly updated: number;
  /** Pods that there are, of whatever template. */
  readonly total: number;
  /** True when nobody is replacing pods: it is paused, waits for a hand, or has given up. */
  readonly stands: boolean;
}

/**
 * True while pods of an old template are being replaced by those of a new one. What `kubectl rollout
 * status` waits for, but for availability: a pod that is not Ready is another rule's.
 */
export function isRollingOut({ observed, wanted, updated, total, stands }: RolloutState): boolean {
  if (!observed) return true;
  return !stands && (updated < wanted || total > Math.max(updated, wanted));
}
