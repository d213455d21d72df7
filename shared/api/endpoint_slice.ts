/**
 * An EndpointSlice (`discovery.k8s.io/v1`) as this product sees it: where a Service without a selector leads.
 *
 * @module
 */
import type { ApiObject } from "./object.ts";

/** The trimmed EndpointSlice. */
export interface EndpointSlice extends ApiObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
  };
  /** Label `kubernetes.io/service-name`; empty when absent. */
  readonly service: string;
  /** Kubernetes lets nobody change it. */
  readonly addressType: string;
  readonly endpoints: readonly {
    readonly addresses: readonly string[];
    /** `conditions.ready`; true when absent, as the API defines it. */
    readonly ready: boolean;
  }[];
  readonly ports: readonly { readonly name: string; readonly port: number }[];
}

/** What a writer decides of an EndpointSlice. */
export type EndpointSliceSpec = Omit<EndpointSlice, "metadata">;
