/**
 * Objects of the webhook in the API: its certificates, the trust in them, and its endpoint.
 *
 * @module
 */
import type { NamespacedObject } from "../api/object.ts";

/** The content of a Secret as text, by names such as `tls.crt`. */
export type StoredTexts = Readonly<Record<string, string>>;

/** A Secret as it was read. */
export interface StoredCertificates {
  readonly resourceVersion: string;
  /** Decoded as UTF-8, with replacement characters for other bytes. */
  readonly data: StoredTexts;
}

/** A Secret, which outlives each leader. Throws `ApiError`s; 409: it was written meanwhile. */
export interface CertificateStore {
  /** Undefined when nothing was ever stored. */
  read(): Promise<StoredCertificates | undefined>;
  /** Refused when there is something already. */
  create(data: StoredTexts): Promise<void>;
  /** Refused when it was written since `seen` was read. */
  replace(seen: StoredCertificates, data: StoredTexts): Promise<void>;
}

/** The authorities that the API servers trust, and the version of the configuration. */
export interface WebhookTrust {
  readonly resourceVersion: string;
  /** PEM of the authorities of each webhook, in their order; empty: none. */
  readonly bundles: readonly (readonly [webhook: string, bundle: string])[];
}

/** The `caBundle`s of our own webhook configuration. Throws `ApiError`s as the store does. */
export interface TrustStore {
  /** Undefined when there is no configuration: then no server calls the webhook. */
  read(): Promise<WebhookTrust | undefined>;
  /** Gives each webhook this bundle. Refused when the configuration was written since. */
  write(seen: WebhookTrust, bundle: string): Promise<void>;
}

/** An EndpointSlice (`discovery.k8s.io/v1`): where a Service without a selector leads. */
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

/** The members of an EndpointSlice that its writer decides. */
export type EndpointSliceSpec = Omit<EndpointSlice, "metadata">;

/** One EndpointSlice of the webhook's Service. Throws `ApiError`s as the other stores do. */
export interface EndpointSliceStore {
  /** Undefined when there is none. */
  read(): Promise<EndpointSlice | undefined>;
  /** Refused when there is one. */
  create(spec: EndpointSliceSpec): Promise<void>;
  /** Refused when it was written since `seen` was read. */
  replace(seen: EndpointSlice, spec: EndpointSliceSpec): Promise<void>;
}
