/**
 * Serves a certificate that cert-manager or an administrator renews in a folder. They also decide which
 * authorities API servers trust.
 *
 * @module
 */
import type { Clock } from "../../shared/clock.ts";
import type { Log } from "../../shared/log.ts";
import type {
  CertificateFiles,
  CertificateReader,
  KeyedCertificate,
} from "../../adapters/webhook/certificates.ts";
import type { CertificateObserver } from "./ports.ts";

/** The dependencies: files, reader and server of certificates. */
export interface FollowedFilesParts {
  readonly files: CertificateFiles;
  readonly reader: CertificateReader;
  readonly observer: Pick<CertificateObserver, "serves">;
  readonly clock: Clock;
  readonly log: Log;
  /** Serves this pair from now on. */
  readonly use: (pair: KeyedCertificate) => Promise<void> | void;
}

/** Time between two reads, ms. The kubelet brings a changed Secret within one or two minutes. */
export const FILES_EVERY_MS = 10_000;

/**
 * Follows the files until `signal` is aborted. Files that can't be read or are no pair, as while one of
 * two is new, change nothing; the log has each such failure once.
 */
export async function followFiles(
  { files, reader, observer, clock, log, use }: FollowedFilesParts,
  signal: AbortSignal,
): Promise<void> {
  let served: KeyedCertificate | undefined;
  let logged: string | undefined;
  while (!signal.aborted) {
    try {
      const pair = await files.read();
      const facts = reader.readPair(pair);
      if (pair.cert !== served?.cert || pair.key !== served.key) {
        await use(pair);
        served = pair;
        log.info("Certificate served", { ends: new Date(facts.notAfterMs).toISOString() });
        observer.serves(facts);
      }
      logged = undefined;
    } catch (error) {
      const fault = String(error);
      if (fault !== logged) log.warn("The certificate's files can't be used", { error: fault });
      logged = fault;
    }
    await clock.sleep(FILES_EVERY_MS, signal);
  }
}
