/**
 * A folder with a certificate and its key, named as in a Secret of type `kubernetes.io/tls`.
 *
 * @module
 */
import type { KeyedCertificate } from "./certificate_maker.ts";

/** Reads the files; the controller's port `CertificateFiles`. */
export interface CertificateFolder {
  /** What is there now. Throws an `Error` that names the file which can't be read. */
  read(): Promise<KeyedCertificate>;
}

/** The files `tls.crt` and `tls.key` of this folder. */
export function createCertificateFolder(folder: string): CertificateFolder {
  return {
    async read() {
      const [cert, key] = await Promise.all([textOf("tls.crt"), textOf("tls.key")]);
      return { cert, key };
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
