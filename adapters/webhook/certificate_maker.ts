/**
 * Makes certificates and their keys.
 *
 * No error of this file repeats key material, and none has a cause that might.
 *
 * @module
 */
// Before the package, which keeps its parsers' descriptions with it.
import "reflect-metadata";
import * as x509 from "@peculiar/x509";

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

/** Makes certificates; the controller's port of this name. */
export interface X509CertificateMaker {
  /** An authority of this name that signs itself. */
  makeAuthority(spec: Validity & { readonly name: string }): Promise<KeyedCertificate>;
  /** A certificate for servers of these DNS names, signed by the authority. */
  makeServing(
    authority: KeyedCertificate,
    spec: Validity & { readonly names: readonly string[] },
  ): Promise<KeyedCertificate>;
}

/** P-256: what every API server takes, with short keys that are made in a millisecond. */
const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;

/** Makes certificates with the platform's randomness. */
export function createCertificateMaker(): X509CertificateMaker {
  return {
    async makeAuthority({ name, ...validity }) {
      const keys = await makeKeys();
      const certificate = await x509.X509CertificateGenerator.createSelfSigned({
        name: [{ CN: [name] }],
        ...dates(validity),
        signingAlgorithm: ALGORITHM,
        keys,
        extensions: [
          // It signs servers' certificates and no further authorities.
          new x509.BasicConstraintsExtension(true, 0, true),
          new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
          await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
        ],
      });
      return keyed(certificate, keys);
    },
    async makeServing(authority, { names, ...validity }) {
      const issuer = certificateOf(authority.cert);
      const signingKey = await privateKeyOf(authority.key);
      const keys = await makeKeys();
      const certificate = await x509.X509CertificateGenerator.create({
        // A name in the subject means nothing to servers of today, and has 64 characters at most.
        subject: [{ CN: ["webhook"] }],
        issuer: issuer.subjectName,
        ...dates(validity),
        publicKey: keys.publicKey,
        signingKey,
        signingAlgorithm: ALGORITHM,
        extensions: [
          new x509.BasicConstraintsExtension(false, undefined, true),
          new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
          new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
          new x509.SubjectAlternativeNameExtension(
            names.map((value) => ({ type: "dns" as const, value })),
          ),
          await x509.AuthorityKeyIdentifierExtension.create(issuer, false),
        ],
      });
      return keyed(certificate, keys);
    },
  };
}

function makeKeys(): Promise<CryptoKeyPair> {
  return crypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]) as Promise<CryptoKeyPair>;
}

function dates({ notBeforeMs, notAfterMs }: Validity): { notBefore: Date; notAfter: Date } {
  return { notBefore: new Date(notBeforeMs), notAfter: new Date(notAfterMs) };
}

async function keyed(
  certificate: x509.X509Certificate,
  { privateKey }: CryptoKeyPair,
): Promise<KeyedCertificate> {
  const bytes = await crypto.subtle.exportKey("pkcs8", privateKey);
  return {
    cert: pemOf(certificate),
    key: `${x509.PemConverter.encode(bytes, "PRIVATE KEY")}\n`,
  };
}

function pemOf(certificate: x509.X509Certificate): string {
  return `${certificate.toString("pem")}\n`;
}

function certificateOf(text: string): x509.X509Certificate {
  try {
    return new x509.X509Certificate(text);
  } catch {
    throw new TypeError("Cannot sign a certificate: the authority's own is no PEM of X.509");
  }
}

async function privateKeyOf(text: string): Promise<CryptoKey> {
  try {
    const bytes = x509.PemConverter.decodeFirst(text);
    return await crypto.subtle.importKey("pkcs8", bytes, ALGORITHM, false, ["sign"]);
  } catch {
    throw new TypeError("Cannot sign a certificate: the authority's key is none of ours");
  }
}
