/**
 * The certificates of the webhook: either in a Secret, where it creates and renews them and publishes their
 * authority to API servers, or in a folder that another program renews.
 *
 * @module
 */
import type { Clock } from "../../shared/clock.ts";
import { createBackoff, retryLevel } from "../../shared/control/backoff.ts";
import type { Log } from "../../shared/log.ts";
import {
  AUTHORITY_LIFE_MS,
  certificateStep,
  lifeFrom,
  readStoredPairs,
  SERVING_LIFE_MS,
  type StoredPairs,
  storedTexts,
} from "./certificate_step.ts";
import type {
  CertificateDetails,
  CertificateFiles,
  CertificateMaker,
  CertificateReader,
  KeyedCertificate,
} from "../../adapters/webhook/certificates.ts";
import type {
  CertificateStore,
  StoredCertificates,
  TrustStore,
} from "../../shared/admission/ports.ts";

/** Observes certificates. */
export interface CertificateObserver {
  /** A new certificate is served from now on. */
  serves(details: CertificateDetails): void;
  /** A certificate was made and stored. */
  made(what: "authority" | "serving"): void;
}

/** The dependencies: stores, maker, reader and server of certificates. */
export interface KeptCertificatesParts {
  readonly store: CertificateStore;
  readonly trust: TrustStore;
  readonly maker: CertificateMaker;
  readonly reader: CertificateReader;
  readonly observer: CertificateObserver;
  readonly clock: Clock;
  readonly log: Log;
  /** Names that API servers call the webhook by, for instance `mbcas-webhook.mbcas-system.svc`. */
  readonly names: readonly string[];
  /** Serves this pair from now on. */
  readonly use: (pair: KeyedCertificate) => Promise<void> | void;
}

/** Time between two reads of Secret and bundles, ms. */
const READ_EVERY_MS = 60_000;

/** Keeps certificates valid and served until `signal` is aborted. Failures are logged and retried. */
export async function keepCertificates(
  parts: KeptCertificatesParts,
  signal: AbortSignal,
): Promise<void> {
  const { clock, log } = parts;
  const backoff = createBackoff({ maxMs: READ_EVERY_MS });
  const reconcile = createReconcile(parts);
  while (!signal.aborted) {
    let waitMs = READ_EVERY_MS;
    try {
      await reconcile();
      backoff.reset("");
    } catch (error) {
      waitMs = backoff.next("", error);
      log[retryLevel(error, waitMs)]("Failed to keep the webhook's certificates", {
        error: String(error),
        waitMs,
      });
    }
    await clock.sleep(waitMs, signal);
  }
}

/** Returns a function that reconciles the certificates; its calls must not overlap. */
function createReconcile(parts: KeptCertificatesParts): () => Promise<void> {
  const { store, trust, clock, log } = parts;
  let served: StoredPairs | undefined;

  async function serve(pairs: StoredPairs): Promise<void> {
    const { cert, key, ...details } = pairs.serving;
    if (served?.serving.cert !== cert) {
      await parts.use({ cert, key });
      reportServed(details, parts);
    }
    served = pairs;
  }

  return async () => {
    // The configuration before the Secret: a former leader with an old Secret then has an older
    // configuration too, and the server refuses its bundle.
    const seen = await trust.read();
    const pairs = await ensureCertificates(parts, await store.read());
    const { cert } = pairs.authority;
    // API servers must trust a new authority before its certificate is served.
    const waitsForTrust = served !== undefined && served.authority.cert !== cert &&
      clock.wall() < served.serving.notAfterMs;
    if (!waitsForTrust) await serve(pairs);
    if (seen?.bundles.some(([, present]) => present !== cert)) {
      await trust.write(seen, cert);
      log.info("Trust in the webhook's authority written");
    }
    await serve(pairs);
  };
}

function reportServed(
  details: CertificateDetails,
  { log, observer }: Pick<FollowedFilesParts, "log" | "observer">,
): void {
  log.info("Certificate served", { ends: new Date(details.notAfterMs).toISOString() });
  observer.serves(details);
}

/**
 * Returns the stored pairs, or makes and stores new ones. Throws an `ApiError`, with status 409 when the
 * Secret was written since `stored` was read.
 */
async function ensureCertificates(
  { store, maker, reader, observer, clock, log, names }: KeptCertificatesParts,
  stored: StoredCertificates | undefined,
): Promise<StoredPairs> {
  const nowMs = clock.wall();
  const found = stored === undefined ? undefined : readStoredPairs(stored.data, reader);
  const step = certificateStep(found, { names, nowMs });
  const pairs = found === undefined || "fault" in found ? undefined : found;
  if (step === undefined && pairs !== undefined) return pairs;

  const fresh = step?.make === "authority" || pairs === undefined;
  const authority = fresh
    ? await maker.makeAuthority({
      // Two authorities of one name would be hard to distinguish.
      name: `mbcas-webhook ${new Date(nowMs).toISOString()}`,
      ...lifeFrom(nowMs, AUTHORITY_LIFE_MS),
    })
    : pairs.authority;
  const serving = await maker.makeServing(authority, {
    names,
    ...lifeFrom(nowMs, SERVING_LIFE_MS),
  });
  const data = storedTexts({ authority, serving });
  if (stored === undefined) await store.create(data);
  else await store.replace(stored, data);

  const written = readStoredPairs(data, reader);
  if ("fault" in written) throw new TypeError(`Cannot use what was made: ${written.fault}`);
  const made = fresh ? "authority" : "serving";
  observer.made(made);
  const malformed = stored !== undefined && pairs === undefined;
  log[malformed ? "warn" : "info"](
    malformed ? "Unusable certificates replaced" : "Certificate made",
    {
      made,
      why: step?.why,
      ends: new Date(written.serving.notAfterMs).toISOString(),
    },
  );
  return written;
}

/** The dependencies: files, reader and server of certificates. */
export interface FollowedFilesParts
  extends Pick<KeptCertificatesParts, "reader" | "clock" | "log" | "use"> {
  readonly readFiles: CertificateFiles;
  readonly observer: Pick<CertificateObserver, "serves">;
}

/** Time between two reads, ms. The kubelet brings a changed Secret within one or two minutes. */
export const FILES_EVERY_MS = 10_000;

/**
 * Follows the files until `signal` is aborted. Files that can't be read or are no pair, as while one of
 * two is new, change nothing; the log has each such failure once.
 */
export async function followFiles(
  { readFiles, reader, clock, use, ...report }: FollowedFilesParts,
  signal: AbortSignal,
): Promise<void> {
  let served: KeyedCertificate | undefined;
  let logged: string | undefined;
  while (!signal.aborted) {
    try {
      const pair = await readFiles();
      const details = reader.readPair(pair);
      if (pair.cert !== served?.cert || pair.key !== served.key) {
        await use(pair);
        served = pair;
        reportServed(details, report);
      }
      logged = undefined;
    } catch (error) {
      const fault = String(error);
      if (fault !== logged) {
        report.log.warn("The certificate's files can't be used", { error: fault });
      }
      logged = fault;
    }
    await clock.sleep(FILES_EVERY_MS, signal);
  }
}
