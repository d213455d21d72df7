/**
 * An EndpointSlice (`discovery.k8s.io/v1`) as this product sees it: where a Service without a selector
 * leads.
 *
 * @module
 */
import type { NamespacedObject } from "./object.ts";

/** The trimmed EndpointSlice. */
export interface EndpointSlice extends NamespacedObject {
  /** Label `kubernetes.io/service-name`; empty when absent. */
  readonly service: string;
  /** Immutable. */
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
