/**
 * Serves a certificate that somebody else renews in a folder: cert-manager in a mounted Secret, or an
 * administrator. Whom API servers trust is then their matter, too.
 *
 * @module
 */
import type { Clock } from "../../shared/clock.ts";
import type { Log } from "../../shared/log.ts";
import type {
  CertificateFiles,
  CertificateObserver,
  CertificateReader,
  KeyedCertificate,
} from "./ports.ts";

/** What they are followed with. */
export interface FollowedFilesParts {
  readonly files: CertificateFiles;
  readonly reader: CertificateReader;
  readonly observer: Pick<CertificateObserver, "serves">;
  readonly clock: Clock;
  readonly log: Log;
  /** Serves this pair from now on. */
  readonly use: (pair: KeyedCertificate) => Promise<void> | void;
}

/** Time between two looks, ms. The kubelet brings a changed Secret within one or two minutes. */
export const FILES_EVERY_MS = 10_000;

/**
 * Follows the files until `signal` is aborted. What can't be read or is no pair, as while one of two
 * files is new, changes nothing and is told once.
 */
export async function followFiles(parts: FollowedFilesParts, signal: AbortSignal): Promise<void> {
  const { files, reader, observer, clock, log } = parts;
  let served: KeyedCertificate | undefined;
  let told: string | undefined;
  while (!signal.aborted) {
    try {
      const { cert, key } = await files.read();
      if (cert !== served?.cert || key !== served.key) {
        const facts = reader.readPair({ cert, key });
        await parts.use({ cert, key });
        served = { cert, key };
        log.info("Certificate served", { ends: new Date(facts.notAfterMs).toISOString() });
        observer.serves(facts);
      }
      told = undefined;
    } catch (error) {
      const fault = String(error);
      if (fault !== told) log.warn("The certificate's files can't be used", { error: fault });
      told = fault;
    }
    await clock.sleep(FILES_EVERY_MS, signal);
  }
}
