/**
 * A Lease as the simulated cluster keeps it: an agent's sign of life.
 *
 * @module
 */
import type { ApiObject } from "../../shared/control/list_watch.ts";

/** The trimmed Lease (`coordination.k8s.io/v1`). */
export interface Lease extends ApiObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
  };
  /** `spec.holderIdentity`: the node's name. */
  readonly holder: string;
  /** `spec.renewTime`, ms since the Unix epoch. */
  readonly renewTimeMs: number;
}
