/**
 * Reads certificates, of whatever algorithm: those of a folder are not ours.
 *
 * No error of this file repeats key material, and none has a cause that might.
 *
 * @module
 */
// Before the package, which keeps its parsers' descriptions with it.
import "reflect-metadata";
import * as x509 from "@peculiar/x509";
import { createPrivateKey, X509Certificate } from "node:crypto";
import type { KeyedCertificate, Validity } from "./certificate_maker.ts";

/** What a certificate says of itself. */
export interface CertificateFacts extends Validity {
  /** DNS names that it is good for, not that of its subject. */
  readonly names: readonly string[];
  /** True when it may sign others. */
  readonly authority: boolean;
}

/** Reads certificates; the controller's port of this name. */
export interface X509CertificateReader {
  /**
   * The facts of a certificate; of the first one where others follow it. Throws a `TypeError` when the
   * text can't be read or the key is that of another one.
   */
  readPair(pair: KeyedCertificate): CertificateFacts;
  /** Each certificate of a bundle with its facts. Throws a `TypeError` when the text can't be read. */
  readBundle(text: string): readonly (CertificateFacts & { readonly cert: string })[];
  /** Whether this authority has signed the other certificate. Throws as `readBundle` does. */
  signed(authority: string, cert: string): boolean;
}

/** RFC 7468, section 2; what stands between the blocks is no matter. */
const BLOCK = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** A reader. */
export function createCertificateReader(): X509CertificateReader {
  return {
    readPair({ cert, key }) {
      const first = firstOf(cert);
      if (!first.checkPrivateKey(keyOf(key))) {
        throw new TypeError("Cannot use a certificate: the key is that of another one");
      }
      return factsOf(first);
    },
    readBundle: (text) =>
      certificatesOf(text).map((one) => ({ ...factsOf(one), cert: one.toString() })),
    signed: (authority, cert) => firstOf(cert).verify(firstOf(authority).publicKey),
  };
}

function firstOf(text: string): X509Certificate {
  const [first] = certificatesOf(text);
  if (first === undefined) throw new TypeError("Cannot read a certificate: there is none");
  return first;
}

function certificatesOf(text: string): readonly X509Certificate[] {
  const blocks = text.match(BLOCK) ?? [];
  // Otherwise a truncated block would be left out silently.
  if (blocks.length !== text.split("-----BEGIN").length - 1) {
    throw new TypeError("Cannot read certificates: the text holds what is no certificate");
  }
  try {
    return blocks.map((block) => new X509Certificate(block));
  } catch {
    throw new TypeError("Cannot read a certificate: the text is no PEM of X.509");
  }
}

function keyOf(text: string): ReturnType<typeof createPrivateKey> {
  try {
    return createPrivateKey(text);
  } catch {
    throw new TypeError("Cannot read a key: the text is no PEM of a private key");
  }
}

function parsed(certificate: X509Certificate): x509.X509Certificate {
  try {
    return new x509.X509Certificate(certificate.toString());
  } catch {
    throw new TypeError("Cannot read a certificate: the text is no PEM of X.509");
  }
}

function factsOf(certificate: X509Certificate): CertificateFacts {
  // Platforms write all names as one text, in which a name with a comma passes for two.
  const extended = parsed(certificate);
  const names = extended.getExtension(x509.SubjectAlternativeNameExtension)?.names.items;
  return {
    notBeforeMs: Date.parse(certificate.validFrom),
    notAfterMs: Date.parse(certificate.validTo),
    names: (names ?? []).flatMap(({ type, value }) => type === "dns" ? value.toLowerCase() : []),
    authority: certificate.ca,
  };
}
