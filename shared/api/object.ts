/**
 * What all objects of the API have in common.
 *
 * @module
 */

/** Identity and version of an object, as a cache needs them. */
export interface ApiObject {
  /** Identity and version, as in the Kubernetes API. */
  readonly metadata: {
    readonly name: string;
    /** Absent on cluster-scoped objects. */
    readonly namespace?: string;
    readonly uid: string;
    /** Opaque; only compared for equality. */
    readonly resourceVersion: string;
  };
}
