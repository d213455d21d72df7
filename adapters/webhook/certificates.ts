/**
 * Creates and reads certificates and their keys. The reader accepts any algorithm, as cert-manager or a
 * user may have created those in a folder.
 *
 * No error of this file repeats key material, and none has a cause that might.
 *
 * @module
 */
// `@peculiar/x509` needs it at import.
import "reflect-metadata";
import * as x509 from "@peculiar/x509";
import { createPrivateKey, X509Certificate } from "node:crypto";

/** When a certificate is valid, ms since 1970; whole seconds. */
export interface Validity {
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
}

/** A certificate with its key, both PEM. */
export interface KeyedCertificate {
  readonly cert: string;
  readonly key: string;
}

/** Creates certificates, with the platform's randomness: keys must not be predictable. */
export interface CertificateMaker {
  /** Creates a self-signed authority. */
  makeAuthority(spec: Validity & { readonly name: string }): Promise<KeyedCertificate>;
  /** Creates a certificate for servers of these DNS names, signed by the authority. */
  makeServing(
    authority: KeyedCertificate,
    spec: Validity & { readonly names: readonly string[] },
  ): Promise<KeyedCertificate>;
}

/** P-256: every API server accepts it, and a key takes a millisecond. */
const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;

/** Creates a maker. */
export function createCertificateMaker(): CertificateMaker {
  return {
    async makeAuthority({ name, notBeforeMs, notAfterMs }) {
      const keys = await makeKeys();
      const certificate = await x509.X509CertificateGenerator.createSelfSigned({
        name: [{ CN: [name] }],
        notBefore: new Date(notBeforeMs),
        notAfter: new Date(notAfterMs),
        signingAlgorithm: ALGORITHM,
        keys,
        extensions: [
          // It signs servers' certificates and no further authorities.
          new x509.BasicConstraintsExtension(true, 0, true),
          new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
          await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
        ],
      });
      return pemPair(certificate, keys);
    },
    async makeServing(authority, { names, notBeforeMs, notAfterMs }) {
      const { issuer, signingKey } = await signerOf(authority);
      const keys = await makeKeys();
      const certificate = await x509.X509CertificateGenerator.create({
        // Clients only check alternative names, which may be longer than the 64 characters of a subject.
        subject: [{ CN: ["webhook"] }],
        issuer: issuer.subjectName,
        notBefore: new Date(notBeforeMs),
        notAfter: new Date(notAfterMs),
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
      return pemPair(certificate, keys);
    },
  };
}

function makeKeys(): Promise<CryptoKeyPair> {
  return crypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]) as Promise<CryptoKeyPair>;
}

async function pemPair(
  certificate: x509.X509Certificate,
  { privateKey }: CryptoKeyPair,
): Promise<KeyedCertificate> {
  const bytes = await crypto.subtle.exportKey("pkcs8", privateKey);
  return {
    cert: `${certificate.toString("pem")}\n`,
    key: `${x509.PemConverter.encode(bytes, "PRIVATE KEY")}\n`,
  };
}

async function signerOf(
  { cert, key }: KeyedCertificate,
): Promise<{ readonly issuer: x509.X509Certificate; readonly signingKey: CryptoKey }> {
  try {
    const bytes = x509.PemConverter.decodeFirst(key);
    const signingKey = await crypto.subtle.importKey("pkcs8", bytes, ALGORITHM, false, ["sign"]);
    return { issuer: new x509.X509Certificate(cert), signingKey };
  } catch {
    throw new TypeError("Cannot sign a certificate: the authority is not one of ours");
  }
}

/** The fields of a certificate. */
export interface CertificateDetails extends Validity {
  /** DNS names of its extension; not the name in its subject. */
  readonly names: readonly string[];
  /** True when it may sign other certificates. */
  readonly authority: boolean;
}

/** Reads certificates. Errors repeat nothing of the texts. */
export interface CertificateReader {
  /**
   * Reads a certificate, the first one of a chain. Throws a `TypeError` when the text can't be read, or the
   * key does not belong to the certificate.
   */
  readPair(pair: KeyedCertificate): CertificateDetails;
  /** Reads each certificate of a bundle. Throws a `TypeError` when the text can't be read. */
  readBundle(text: string): readonly (CertificateDetails & { readonly cert: string })[];
  /** True if the authority has signed the certificate. Throws as `readBundle` does. */
  signed(authority: string, cert: string): boolean;
}

/** RFC 7468, section 2; text between the blocks is ignored. */
const BLOCK = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** Creates a reader. */
export function createCertificateReader(): CertificateReader {
  return {
    readPair({ cert, key }) {
      const first = firstOf(cert);
      const privateKey = reading(
        "a key: the text is not a PEM private key",
        () => createPrivateKey(key),
      );
      if (!first.checkPrivateKey(privateKey)) {
        throw new TypeError("Cannot use a certificate: the key belongs to another one");
      }
      return detailsOf(first);
    },
    readBundle: (text) =>
      certificatesOf(text).map((one) => ({ ...detailsOf(one), cert: one.toString() })),
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
  // A truncated block would otherwise be left out silently.
  if (blocks.length !== text.split("-----BEGIN").length - 1) {
    throw new TypeError("Cannot read certificates: a block is truncated or not a certificate");
  }
  return reading(
    "certificates: a block is not X.509",
    () => blocks.map((block) => new X509Certificate(block)),
  );
}

/** Returns the result of `read`; replaces its error, which might repeat the text. */
function reading<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch {
    throw new TypeError(`Cannot read ${what}`);
  }
}

function detailsOf(certificate: X509Certificate): CertificateDetails {
  // `X509Certificate` has all names in one text, in which a name with a comma looks like two.
  const extended = reading(
    "a certificate: the text is not X.509",
    () => new x509.X509Certificate(certificate.toString()),
  );
  const names = extended.getExtension(x509.SubjectAlternativeNameExtension)?.names.items;
  return {
    notBeforeMs: Date.parse(certificate.validFrom),
    notAfterMs: Date.parse(certificate.validTo),
    names: (names ?? []).flatMap(({ type, value }) => type === "dns" ? value.toLowerCase() : []),
    authority: certificate.ca,
  };
}

/** Reads the present pair of certificate files. Throws an `Error` that names the file which can't be read. */
export type CertificateFiles = () => Promise<KeyedCertificate>;

/** Reads the files `tls.crt` and `tls.key` of this folder, which another program renews. */
export function certificateFolder(folder: string): CertificateFiles {
  return async () => {
    const [cert = "", key = ""] = await Promise.all(["tls.crt", "tls.key"].map(async (name) => {
      try {
        return await Deno.readTextFile(`${folder}/${name}`);
      } catch (cause) {
        const message = cause instanceof Error ? cause.message : String(cause);
        throw new Error(`Cannot read ${folder}/${name}: ${message}`, { cause });
      }
    }));
    return { cert, key };
  };
}
