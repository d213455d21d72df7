/**
 * Keeps the webhook's own certificates: made once for all replicas, renewed in time, trusted by the API
 * servers before they are served.
 *
 * Every replica does all of it, and none is special. What they share is the Secret; where two write at
 * once the server lets one of them win, and the other one reads what that wrote.
 *
 * @module
 */
import { ApiError } from "../../shared/api/api_error.ts";
import { createBackoff } from "../../shared/control/backoff.ts";
import { retryLevel } from "../../shared/control/brief_failure.ts";
import type { Random } from "../../shared/random.ts";
import { trustedAuthorities } from "./certificate_step.ts";
import type { KeyedCertificate, TrustStore } from "./ports.ts";
import { type SharedCertificatesParts, storedOrMade } from "./shared_certificates.ts";
import { bundleText, type StoredPairs } from "./stored_pairs.ts";

/** What they are kept with. */
export interface KeptCertificatesParts extends SharedCertificatesParts {
  readonly trust: TrustStore;
  readonly random: Random;
  /** Serves this pair from now on. */
  readonly use: (pair: KeyedCertificate) => Promise<void> | void;
  /** Hears whom the replicas trust, PEM, at each look and before `use`. @default {none} */
  readonly believe?: ((authorities: string) => Promise<void> | void) | undefined;
}

/** Time between two looks, ms: how long a replica serves what another one has renewed. */
export const LOOK_EVERY_MS = 60_000;

/**
 * How long a new authority is trusted before what it signed is served, ms. API servers hear of a changed
 * configuration within a second or two, the other replicas, which trust each other by it, with their next
 * look.
 */
export const SETTLE_MS = 90_000;

/** The wait after another replica was faster, ms: what it wrote is there already. */
const OVERTAKEN_MS = 200;

/** A part of each wait is left to chance, so that replicas don't look at the same moment. */
const SPREAD = 0.2;

/** Keeps them until `signal` is aborted. Failures are logged and tried again. */
export async function keepCertificates(
  parts: KeptCertificatesParts,
  signal: AbortSignal,
): Promise<void> {
  const { clock, random, log } = parts;
  const backoff = createBackoff({ random, maxMs: LOOK_EVERY_MS });
  const look = createLook(parts);
  while (!signal.aborted) {
    let waitMs: number;
    try {
      waitMs = await look() * (1 + SPREAD * random.next());
      backoff.reset("look");
    } catch (error) {
      if (error instanceof ApiError && error.status === 409) {
        log.debug("Another replica was faster with the certificates");
        waitMs = OVERTAKEN_MS;
      } else {
        waitMs = backoff.next("look", error);
        log[retryLevel(error, waitMs)]("The certificates can't be looked after", {
          error: String(error),
          waitMs,
        });
      }
    }
    await clock.sleep(waitMs, signal);
  }
}

/** One look after another; each gives the time until the next, ms. */
function createLook(parts: KeptCertificatesParts): () => Promise<number> {
  const { store, trust, clock, log } = parts;
  let served: StoredPairs | undefined;
  /** Since when the API servers could know of an authority. */
  let believed: { readonly cert: string; readonly sinceMs: number } | undefined;

  async function serve(pairs: StoredPairs): Promise<void> {
    const { cert, key, ...facts } = pairs.serving;
    if (served?.serving.cert !== cert) {
      await parts.use({ cert, key });
      log.info("Certificate served", { ends: new Date(facts.notAfterMs).toISOString() });
      parts.observer.serves(facts);
    }
    served = pairs;
  }

  return async () => {
    // The configuration before the Secret: whoever has an old Secret then has an older configuration,
    // and can't put a bundle back that somebody has written since.
    const seen = await trust.read();
    const stored = await store.read();
    const pairs = await storedOrMade(parts, stored);
    const trusted = trustedAuthorities(pairs, clock.wall());
    await parts.believe?.(bundleText(trusted));
    if (mayServeAtOnce({ served, pairs, trusted, nowMs: clock.wall() })) await serve(pairs);
    if (seen !== undefined) {
      const bundle = bundleText(trusted);
      if (seen.bundles.some(([, present]) => present !== bundle)) {
        await trust.write(seen, bundle);
        log.info("Trust in the webhook's authorities written", { authorities: trusted.length });
      }
      const { cert } = pairs.authority;
      if (believed?.cert !== cert) believed = { cert, sinceMs: clock.monotonic() };
      const leftMs = believed.sinceMs + SETTLE_MS - clock.monotonic();
      if (served?.authority.cert !== cert && leftMs > 0) return leftMs;
    }
    await serve(pairs);
    return LOOK_EVERY_MS;
  };
}

/**
 * Whether there is nothing better to serve until the API servers have heard of the authority: nothing
 * at all, something that ended or that they shall not believe any more, or the same authority's.
 */
function mayServeAtOnce({ served, pairs, trusted, nowMs }: {
  readonly served: StoredPairs | undefined;
  readonly pairs: StoredPairs;
  readonly trusted: readonly { readonly cert: string }[];
  readonly nowMs: number;
}): boolean {
  if (served === undefined || nowMs >= served.serving.notAfterMs) return true;
  const { cert } = served.authority;
  return cert === pairs.authority.cert || !trusted.some((one) => sameText(one.cert, cert));
}

/** PEM may be written with more or fewer empty lines. */
function sameText(one: string, other: string): boolean {
  return one.trim() === other.trim();
}
