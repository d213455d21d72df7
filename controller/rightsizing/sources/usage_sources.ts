/**
 * Sources of usage by the providers that policies name, with a timeout and a cache.
 *
 * @module
 */
import { createHTTPLogin, type HTTPLogin } from "../../../adapters/http_login.ts";
import type { UsageProvider } from "../../../shared/api/optimization_policy.ts";
import type { Clock } from "../../../shared/clock.ts";
import { within } from "../../../shared/control/time_limit.ts";
import type { Log } from "../../../shared/log.ts";
import type { PolicySpec } from "../../../shared/rightsizing/policy_spec.ts";
import type {
  UsageAnswer,
  UsageConnections,
  UsageProblem,
  UsageQuery,
  UsageSource,
} from "../ports.ts";
import { PROVIDERS, type UsageSettings } from "./providers.ts";

/** Called when a source has answered, or after its timeout. */
export type CollectionObserver = (provider: UsageProvider, tookMs: number) => void;

/** The source that a policy names. */
export type SourceOfPolicy = Pick<PolicySpec, "provider" | "customSource" | "intervalMs">;

/** Dependencies of the sources. */
export interface UsageSourceParts {
  /** Creates the source of a provider, once a policy needs it; may throw. */
  readonly create: (provider: UsageProvider, name?: string) => UsageSource | UsageProblem;
  readonly clock: Pick<Clock, "monotonic" | "sleep">;
  readonly log: Log;
  /** Called with how long a source took for an answer that was not cached. */
  readonly collected?: CollectionObserver | undefined;
}

/** The sources. */
export interface UsageSources {
  /** The source of a policy, with its cache; without one, a source that answers with the problem. */
  sourceFor(policy: SourceOfPolicy): UsageSource;
}

/** Timeout of an answer, ms: a large one takes many requests, each of which has a timeout of its own. */
const TIMEOUT_MS = 300_000;
/** How long a failure is cached, ms. */
const FAILURE_LIFE_MS = 5000;
/** The longest time for which an answer is cached, ms. */
const LONGEST_LIFE_MS = 60_000;

/** The sources that the settings name; `close` closes idle connections. */
export function connectUsageSources(
  { settings, sampler, clock, ...parts }:
    & Omit<UsageConnections<UsageSettings>, "loginOf">
    & Pick<UsageSourceParts, "log" | "collected">
    & { readonly clock: Clock },
): UsageSources & { close(): void } {
  const logins: HTTPLogin[] = [];
  const connections: UsageConnections<UsageSettings> = {
    settings,
    sampler,
    loginOf(files, headers) {
      const login = createHTTPLogin(files, { clock, ...(headers && { headers }) });
      logins.push(login);
      return login;
    },
  };
  const create: UsageSourceParts["create"] = (provider, name) =>
    PROVIDERS[provider](connections, name);
  return {
    ...createUsageSources({ ...parts, create, clock }),
    close: () => logins.forEach((login) => login.close()),
  };
}

/** Sources that are created when they are needed. */
export function createUsageSources(
  { create, clock, log, collected }: UsageSourceParts,
): UsageSources {
  const caches = new Map<string, UsageCache>();

  function cacheOf({ provider, customSource }: SourceOfPolicy): UsageCache | UsageProblem {
    const key = customSource === undefined ? provider : `${provider} ${customSource}`;
    const known = caches.get(key);
    if (known !== undefined) return known;
    try {
      const created = create(provider, customSource);
      if ("problem" in created) return created;
      const answered = (tookMs: number): void => collected?.(provider, tookMs);
      const source = withTimeout(created, { clock, answered });
      const cache = createUsageCache({ source, clock });
      caches.set(key, cache);
      return cache;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const message = `the source could not be started: ${why}`;
      log.warn("A source of usage could not be started", { source: key, error: message });
      return { problem: "unavailable", message };
    }
  }

  return {
    sourceFor(policy) {
      const cache = cacheOf(policy);
      return "problem" in cache
        ? { usage: () => Promise.resolve(cache) }
        : cache(Math.min(LONGEST_LIFE_MS, policy.intervalMs / 2));
    },
  };
}

/** As `source`, but each answer within {@linkcode TIMEOUT_MS}. */
function withTimeout(
  source: UsageSource,
  { clock, answered }: {
    readonly clock: UsageSourceParts["clock"];
    /** Called with how long the source took, ms, unless the query was aborted. */
    readonly answered: (tookMs: number) => void;
  },
): UsageSource {
  return {
    async usage(query, signal) {
      const begunAt = clock.monotonic();
      const late = (): UsageAnswer => ({
        problem: "unreachable",
        message: `no answer came within ${TIMEOUT_MS / 1000} s`,
      });
      try {
        const usage = (over: AbortSignal) => source.usage(query, AbortSignal.any([signal, over]));
        return await within(usage, { clock, ms: TIMEOUT_MS, late });
      } finally {
        if (!signal.aborted) answered(clock.monotonic() - begunAt);
      }
    },
  };
}

/** Returns a source that answers from the cache if an answer is younger than `lifeMs` or in flight. */
export type UsageCache = (lifeMs: number) => UsageSource;

interface Entry {
  readonly answer: Promise<UsageAnswer>;
  /** Once the answer is there. */
  settled?: { readonly atMs: number; readonly failed: boolean };
}

/**
 * An empty cache. Aborting a query ends it for all that wait for the same answer, which is fine as a workload has
 * only one reconcile at a time.
 */
export function createUsageCache(
  { source, clock }: { readonly source: UsageSource; readonly clock: Pick<Clock, "monotonic"> },
): UsageCache {
  /** By query, also those in flight. */
  const entries = new Map<string, Entry>();

  function isFresh({ settled }: Entry, lifeMs: number): boolean {
    if (settled === undefined) return true;
    const mostMs = settled.failed ? Math.min(lifeMs, FAILURE_LIFE_MS) : lifeMs;
    return clock.monotonic() - settled.atMs < mostMs;
  }

  return (lifeMs) => ({
    async usage(query, signal) {
      const key = keyOf(query);
      const known = entries.get(key);
      if (known !== undefined && isFresh(known, lifeMs)) return await known.answer;
      entries.delete(key);
      // Answers are large: stale ones are deleted, the oldest first.
      for (const [old, entry] of entries) {
        if (isFresh(entry, LONGEST_LIFE_MS)) break;
        entries.delete(old);
      }
      const entry: Entry = { answer: source.usage(query, signal) };
      entries.set(key, entry);
      try {
        const answer = await entry.answer;
        entry.settled = { atMs: clock.monotonic(), failed: "problem" in answer };
        return answer;
      } finally {
        if (entry.settled === undefined || signal.aborted) entries.delete(key);
      }
    },
  });
}

/** A key of the window's length: the same query a little later has another window of the same length. */
function keyOf({ namespace, workload, containers, window }: UsageQuery): string {
  const { kind, name, uid } = workload;
  return JSON.stringify([namespace, kind, name, uid, containers, window.toMs - window.fromMs]);
}
