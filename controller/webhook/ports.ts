/**
 * The ports of the webhook's certificates and of its endpoint.
 *
 * @module
 */
import type { CertificateFacts } from "../../adapters/webhook/certificates.ts";
import type { EndpointSlice, EndpointSliceSpec } from "../../shared/api/endpoint_slice.ts";

/** The content of a store, by names such as `tls.crt`. */
export type StoredTexts = Readonly<Record<string, string>>;

/** The content that was read, and its version. */
export interface StoredCertificates {
  readonly resourceVersion: string;
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
  /** PEM of the authorities by webhook; empty: none. */
  readonly bundles: readonly (readonly [webhook: string, bundle: string])[];
}

/** The `caBundle`s of our own webhook configuration. Throws `ApiError`s as the store does. */
export interface TrustStore {
  /** Undefined when there is no configuration: then no server calls the webhook. */
  read(): Promise<WebhookTrust | undefined>;
  /** Gives each webhook this bundle. Refused when the configuration was written since. */
  write(seen: WebhookTrust, bundle: string): Promise<void>;
}

/** One EndpointSlice of the webhook's Service. Throws `ApiError`s as the other stores do. */
export interface EndpointSliceStore {
  /** Undefined when there is none. */
  read(): Promise<EndpointSlice | undefined>;
  /** Refused when there is one. */
  create(spec: EndpointSliceSpec): Promise<void>;
  /** Refused when it was written since `seen` was read. */
  replace(seen: EndpointSlice, spec: EndpointSliceSpec): Promise<void>;
}

/** Observes certificates. */
export interface CertificateObserver {
  /** A new certificate is served from now on. */
  serves(facts: CertificateFacts): void;
  /** One was made and stored. */
  made(what: "authority" | "serving"): void;
}
