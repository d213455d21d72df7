/**
 * The texts of the Secret as certificates, and back.
 *
 * @module
 */
import type {
  CertificateFacts,
  CertificateReader,
  KeyedCertificate,
  StoredTexts,
} from "./ports.ts";

/** What each leader takes over from the one before. */
export interface StoredPairs {
  readonly authority: KeyedCertificate & CertificateFacts;
  readonly serving: KeyedCertificate & CertificateFacts;
  /** Authorities from before, which may have signed what a leader still serves. */
  readonly earlier: readonly (CertificateFacts & { readonly cert: string })[];
}

/** The texts. The names of the first four are those of other makers of such Secrets. */
export function storedTexts(
  { authority, serving, earlier }: {
    readonly authority: KeyedCertificate;
    readonly serving: KeyedCertificate;
    readonly earlier: readonly { readonly cert: string }[];
  },
): StoredTexts {
  return {
    "ca.crt": authority.cert,
    "ca.key": authority.key,
    "tls.crt": serving.cert,
    "tls.key": serving.key,
    "old-ca.crt": bundleText(earlier),
  };
}

/** The certificates one below the other. */
export function bundleText(certificates: readonly { readonly cert: string }[]): string {
  return certificates.map(({ cert }) => `${cert.trim()}\n`).join("");
}

/** The pairs in these texts, or in a sentence what is wrong with them; it repeats nothing of them. */
export function readStoredPairs(
  data: StoredTexts,
  reader: CertificateReader,
): StoredPairs | { readonly fault: string } {
  let at = "";
  const pairOf = (name: string): KeyedCertificate & CertificateFacts => {
    at = `${name}.crt and ${name}.key`;
    const pair = { cert: data[`${name}.crt`] ?? "", key: data[`${name}.key`] ?? "" };
    return { ...pair, ...reader.readPair(pair) };
  };
  try {
    const authority = pairOf("ca");
    if (!authority.authority) return { fault: "ca.crt: it may not sign others" };
    const serving = pairOf("tls");
    if (!reader.signed(authority.cert, serving.cert)) {
      return { fault: "tls.crt: it is not signed by ca.crt" };
    }
    at = "old-ca.crt";
    return { authority, serving, earlier: reader.readBundle(data[at] ?? "") };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return { fault: `${at}: ${error.message}` };
  }
}
