/**
 * What the webhook's certificates and endpoint need of the outside.
 *
 * @module
 */
import type { EndpointSlice, EndpointSliceSpec } from "../../shared/api/endpoint_slice.ts";

/** From when to when a certificate holds, ms since 1970; whole seconds. */
export interface Validity {
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
}

/** A certificate with its key, both PEM. */
export interface KeyedCertificate {
  readonly cert: string;
  readonly key: string;
}

/** The fields of a certificate. */
export interface CertificateFacts extends Validity {
  /** DNS names that it is good for. */
  readonly names: readonly string[];
  /** True when it may sign others. */
  readonly authority: boolean;
}

/** Makes certificates. It takes no injected randomness: keys must not be predictable. */
export interface CertificateMaker {
  makeAuthority(spec: Validity & { readonly name: string }): Promise<KeyedCertificate>;
  makeServing(
    authority: KeyedCertificate,
    spec: Validity & { readonly names: readonly string[] },
  ): Promise<KeyedCertificate>;
}

/** Reads certificates. Errors are `TypeError`s that repeat nothing of the texts. */
export interface CertificateReader {
  /** Throws when the text can't be read or the key is that of another certificate. */
  readPair(pair: KeyedCertificate): CertificateFacts;
  /** Throws when the text can't be read. */
  readBundle(text: string): readonly (CertificateFacts & { readonly cert: string })[];
  /** Whether the authority has signed the other certificate. */
  signed(authority: string, cert: string): boolean;
}

/** What a store holds, by names such as `tls.crt`. */
export type StoredTexts = Readonly<Record<string, string>>;

/** What was read, and of which version. */
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

/** Certificate files that another program renews. */
export interface CertificateFiles {
  /** The present pair. Throws an `Error` that names the file which can't be read. */
  read(): Promise<KeyedCertificate>;
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
