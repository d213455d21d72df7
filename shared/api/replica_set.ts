/**
 * A ReplicaSet as this product sees it: what stands between a pod and its Deployment.
 *
 * @module
 */
import type { ApiObject } from "../control/list_watch.ts";

/** The trimmed ReplicaSet. */
export interface ReplicaSet extends ApiObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
  };
  /** The Deployment that controls it; absent where none does. */
  readonly deployment?: { readonly name: string; readonly uid: string };
}
