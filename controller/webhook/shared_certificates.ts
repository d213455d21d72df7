/**
 * The certificates that all replicas share: as they are stored, or made anew and stored.
 *
 * @module
 */
import type { Clock } from "../../shared/clock.ts";
import type { Log } from "../../shared/log.ts";
import {
  AUTHORITY_LIFE_MS,
  certificateStep,
  lifeFrom,
  SERVING_LIFE_MS,
  trustedAuthorities,
} from "./certificate_step.ts";
import type {
  CertificateMaker,
  CertificateObserver,
  CertificateReader,
  CertificateStore,
  StoredCertificates,
} from "./ports.ts";
import { readStoredPairs, type StoredPairs, storedTexts } from "./stored_pairs.ts";

/** What they are made and stored with. */
export interface SharedCertificatesParts {
  readonly store: CertificateStore;
  readonly maker: CertificateMaker;
  readonly reader: CertificateReader;
  readonly observer: CertificateObserver;
  readonly clock: Clock;
  readonly log: Log;
  /** Names that API servers call the webhook by, for instance `mbcas-webhook.mbcas-system.svc`. */
  readonly names: readonly string[];
}

/**
 * The pairs that are stored, or those that were made and stored in their place. Throws an `ApiError`,
 * with status 409 when another replica has written since `stored` was read.
 */
export async function storedOrMade(
  { store, maker, reader, observer, clock, log, names }: SharedCertificatesParts,
  stored: StoredCertificates | undefined,
): Promise<StoredPairs> {
  const nowMs = clock.wall();
  const found = stored === undefined ? undefined : readStoredPairs(stored.data, reader);
  const step = certificateStep({ stored: found, names, nowMs });
  const pairs = found === undefined || "fault" in found ? undefined : found;
  if (step.make === "nothing" && pairs !== undefined) return pairs;

  const fresh = step.make === "authority" || pairs === undefined;
  const authority = fresh
    ? await maker.makeAuthority({
      // Two authorities of one name would be hard to tell apart.
      name: `mbcas-webhook ${new Date(nowMs).toISOString()}`,
      ...lifeFrom(nowMs, AUTHORITY_LIFE_MS),
    })
    : pairs.authority;
  const serving = await maker.makeServing(authority, {
    names,
    ...lifeFrom(nowMs, SERVING_LIFE_MS),
  });
  const before = pairs === undefined ? [] : trustedAuthorities(pairs, nowMs);
  const data = storedTexts({
    authority,
    serving,
    earlier: fresh ? before : pairs.earlier,
  });
  if (stored === undefined) await store.create(data);
  else await store.replace(stored, data);

  const written = readStoredPairs(data, reader);
  if ("fault" in written) throw new TypeError(`Cannot use what was made: ${written.fault}`);
  observer.made(fresh ? "authority" : "serving");
  const malformed = stored !== undefined && pairs === undefined;
  log[malformed ? "warn" : "info"](
    malformed ? "Unusable certificates replaced" : "Certificate made",
    {
      made: fresh ? "authority" : "serving",
      why: "why" in step ? step.why : undefined,
      ends: new Date(written.serving.notAfterMs).toISOString(),
    },
  );
  return written;
}
