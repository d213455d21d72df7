/**
 * A folder with a certificate and its key, named as in a Secret of type `kubernetes.io/tls`.
 *
 * @module
 */
import type { KeyedCertificate } from "./certificate_maker.ts";

/** A pair of files, and what may stand beside them. */
export interface FoundCertificate extends KeyedCertificate {
  /** PEM of those who have signed it; absent where nobody says so. */
  readonly authorities?: string;
}

/** Reads the files; the controller's port `CertificateFiles`. */
export interface CertificateFolder {
  /** What is there now. Throws an `Error` that names the file which can't be read. */
  read(): Promise<FoundCertificate>;
}

/** The files `tls.crt` and `tls.key` of this folder, and `ca.crt` where it can be read and is not empty. */
export function createCertificateFolder(folder: string): CertificateFolder {
  return {
    async read() {
      const [cert, key, authorities] = await Promise.all([
        textOf("tls.crt"),
        textOf("tls.key"),
        // Who serves needs none.
        textOf("ca.crt").catch(() => ""),
      ]);
      return { cert, key, ...(authorities.trim() === "" ? {} : { authorities }) };
    },
  };

  async function textOf(name: string): Promise<string> {
    const path = `${folder}/${name}`;
    try {
      return await Deno.readTextFile(path);
    } catch (cause) {
      const message = cause instanceof Error ? cause.message : String(cause);
      throw new Error(`Cannot read ${path}: ${message}`, { cause });
    }
  }
}
