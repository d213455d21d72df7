/**
 * Who asks, as one request carries it.
 *
 * @module
 */

/** Headers and, where the user has one, a client certificate. Never logged. */
export interface Login {
  /** `authorization` for instance; empty when the certificate says it all. */
  readonly headers: Readonly<Record<string, string>>;
  /** Certificate chain and private key, PEM. */
  readonly certificate?: { readonly cert: string; readonly key: string };
}
