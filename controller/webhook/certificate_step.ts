/**
 * The stored certificates of the webhook, and when they are made and renewed. Pure: the time is an argument.
 *
 * @module
 */
import type {
  CertificateDetails,
  CertificateReader,
  KeyedCertificate,
  Validity,
} from "../../adapters/webhook/certificates.ts";
import type { StoredTexts } from "../../shared/admission/ports.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** How long an authority holds, ms: it is renewed every eight months. */
export const AUTHORITY_LIFE_MS: number = 365 * DAY_MS;

/**
 * The life of a server's certificate, ms: it is renewed every 60 days. Less than a third of an authority's,
 * so that a certificate ends before the authority that signed it shortly before its own renewal.
 */
export const SERVING_LIFE_MS: number = 90 * DAY_MS;

/** By how much a new certificate's beginning is set back, ms: clocks differ. */
const BACKDATED_MS = HOUR_MS;

/** The part of its life after which a certificate is renewed. */
const RENEWED_AFTER = 2 / 3;

/**
 * The certificate to make for a server with these names; undefined: none. A new authority comes with a new
 * certificate for the server. A certificate that begins in the future is from a former leader with a clock that
 * was ahead: it stays.
 */
export function certificateStep(
  stored: StoredPairs | { readonly fault: string } | undefined,
  { names, nowMs }: { readonly names: readonly string[]; readonly nowMs: number },
): { readonly make: "authority" | "serving"; readonly why: string } | undefined {
  if (stored === undefined) return { make: "authority", why: "there are none yet" };
  if ("fault" in stored) return { make: "authority", why: stored.fault };
  const { authority, serving } = stored;
  const ends = (what: string, { notAfterMs }: Validity): string =>
    `${what} ${nowMs < notAfterMs ? "ends" : "ended"} at ${new Date(notAfterMs).toISOString()}`;
  if (nowMs >= renewalMs(authority)) {
    return { make: "authority", why: ends("the authority", authority) };
  }
  const lacking = names.find((name) => !serving.names.includes(name));
  if (lacking !== undefined) {
    return { make: "serving", why: `the certificate is not for ${lacking}` };
  }
  if (nowMs >= renewalMs(serving)) {
    return { make: "serving", why: ends("the certificate", serving) };
  }
  return undefined;
}

function renewalMs({ notBeforeMs, notAfterMs }: Validity): number {
  return notBeforeMs + (notAfterMs - notBeforeMs) * RENEWED_AFTER;
}

/** A life of this length from now on; whole seconds, as certificates have them. */
export function lifeFrom(nowMs: number, lifeMs: number): Validity {
  const notBeforeMs = 1000 * Math.floor((nowMs - BACKDATED_MS) / 1000);
  return { notBeforeMs, notAfterMs: notBeforeMs + lifeMs };
}

/** The certificates that each leader takes over from the one before. */
export interface StoredPairs {
  readonly authority: KeyedCertificate & CertificateDetails;
  readonly serving: KeyedCertificate & CertificateDetails;
}

/** The content of the Secret, by the keys that other issuers of certificates use. */
export function storedTexts(
  { authority, serving }: {
    readonly authority: KeyedCertificate;
    readonly serving: KeyedCertificate;
  },
): StoredTexts {
  return {
    "ca.crt": authority.cert,
    "ca.key": authority.key,
    "tls.crt": serving.cert,
    "tls.key": serving.key,
  };
}

/** The pairs in these texts, or their fault in a sentence that does not quote them. */
export function readStoredPairs(
  data: StoredTexts,
  reader: CertificateReader,
): StoredPairs | { readonly fault: string } {
  let at = "";
  const pairOf = (name: string): KeyedCertificate & CertificateDetails => {
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
    return { authority, serving };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return { fault: `${at}: ${error.message}` };
  }
}
