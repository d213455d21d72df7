/**
 * Serves a certificate that somebody else renews in a folder: cert-manager in a mounted Secret, or an
 * administrator. Whom API servers trust is then their matter, too.
 *
 * @module
 */
import type { Clock } from "../../shared/clock.ts";
import type { Log } from "../../shared/log.ts";
import type {
  CertificateFacts,
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
  /** Hears whom the replicas trust, PEM, before `use`. @default {none} */
  readonly believe?: ((authorities: string) => Promise<void> | void) | undefined;
  /** The name by which replicas know each other. */
  readonly peerName: string;
}

/** Time between two looks, ms. The kubelet brings a changed Secret within one or two minutes. */
export const FILES_EVERY_MS = 10_000;

/**
 * Follows the files until `signal` is aborted. What can't be read or is no pair, as while one of two
 * files is new, changes nothing and is told once; so are authorities that are missing, or no bundle, and a
 * certificate with which no replica is heard by another.
 */
export async function followFiles(parts: FollowedFilesParts, signal: AbortSignal): Promise<void> {
  const { files, reader, observer, clock, log, believe, peerName } = parts;
  const attempt = createAttempts(log);
  let served: KeyedCertificate | undefined;

  async function trust(
    authorities: string | undefined,
    { names, forClients }: CertificateFacts,
  ): Promise<void> {
    if (believe === undefined) return;
    if (authorities === undefined) {
      throw new TypeError("Cannot believe other replicas: there is no ca.crt that can be read");
    }
    if (reader.readBundle(authorities).length === 0) {
      throw new TypeError("Cannot believe other replicas: ca.crt has no certificate");
    }
    await believe(authorities);
    if (!forClients) {
      throw new TypeError(
        "Cannot ask other replicas: tls.crt is for servers alone, without the use of clients",
      );
    }
    if (!names.includes(peerName)) {
      throw new TypeError(`Cannot ask other replicas: tls.crt has no DNS name ${peerName}`);
    }
  }

  while (!signal.aborted) {
    await attempt("The certificate's files can't be used", async () => {
      const { cert, key, authorities } = await files.read();
      const facts = reader.readPair({ cert, key });
      await attempt("Only the leader places new pods", () => trust(authorities, facts));
      if (cert === served?.cert && key === served.key) return;
      await parts.use({ cert, key });
      served = { cert, key };
      log.info("Certificate served", { ends: new Date(facts.notAfterMs).toISOString() });
      observer.serves(facts);
    });
    await clock.sleep(FILES_EVERY_MS, signal);
  }
}

/** Tries parts by what their failures are told as: each of them once, until it is another one or over. */
function createAttempts(
  log: Log,
): (failure: string, part: () => Promise<void>) => Promise<void> {
  const told = new Map<string, string>();
  return async (failure, part) => {
    try {
      await part();
      told.delete(failure);
    } catch (error) {
      const fault = String(error);
      if (fault !== told.get(failure)) log.warn(failure, { error: fault });
      told.set(failure, fault);
    }
  };
}
