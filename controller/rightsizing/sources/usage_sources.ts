/**
 * Sources of usage by the providers that policies name: each answer within a timeout, and cached.
 *
 * A new provider is an entry of `USAGE_PROVIDERS` and of {@linkcode CONNECTIONS}.
 *
 * @module
 */
import { createCustomUsage } from "../../../adapters/custom_usage.ts";
import { createHTTPLogin, type HTTPLogin } from "../../../adapters/http_login.ts";
import { createRangeQueries } from "../../../adapters/prometheus/range_queries.ts";
import type { UsageProvider } from "../../../shared/api/optimization_policy.ts";
import type { Clock } from "../../../shared/clock.ts";
import type { LoginFiles, RequestHeaders } from "../../../shared/config/server_kinds.ts";
import type { Log } from "../../../shared/log.ts";
import { quotedText } from "../../../shared/quoted_text.ts";
import type { PolicySpec } from "../../../shared/rightsizing/policy_spec.ts";
import type { ControllerSettings } from "../../settings.ts";
import type { UsageAnswer, UsageProblem, UsageQuestion, UsageSource } from "../ports.ts";
import { createCollectedSamples, type TimedValues } from "./collected_samples.ts";
import { createPrometheusUsage } from "./prometheus_usage.ts";

/** Called when a source has answered, or its time was over. */
export type CollectionObserver = (provider: UsageProvider, tookMs: number) => void;

/** Creates the source of a provider, or its sources by the names in the configuration. */
export type ProviderSources = (() => UsageSource) | ReadonlyMap<string, () => UsageSource>;

/** Dependencies of the sources. */
export interface UsageSourceParts {
  /** No source is created before a policy needs it. */
  readonly providers: Readonly<Record<UsageProvider, ProviderSources>>;
  readonly clock: Pick<Clock, "monotonic" | "sleep">;
  readonly log: Log;
  /** Called with how long a source took for an answer that was not cached. */
  readonly collected?: CollectionObserver;
}

/** The sources. */
export interface UsageSources {
  /** The source of a policy, with its cache; one that only reports a problem where there is none. */
  of(policy: Pick<PolicySpec, "provider" | "customSource" | "intervalMs">): UsageSource;
}

/** Between two attempts to create a source, ms. */
const RETRY_MS = 30_000;
/** For an answer, ms: a large one takes many requests, each of which has a timeout of its own. */
const TIMEOUT_MS = 300_000;
/** After a failure a source is not asked again for this long, ms. */
const FAILURE_LIFE_MS = 5000;
/** No answer is used longer. */
const LONGEST_LIFE_MS = 60_000;

/** Sources that are created when they are needed. */
export function createUsageSources(
  { providers, clock, log, collected }: UsageSourceParts,
): UsageSources {
  const caches = new Map<string, UsageCache>();
  const failures = new Map<string, { readonly atMs: number; readonly message: string }>();

  function cacheOf(
    key: string,
    { provider, create }: {
      readonly provider: UsageProvider;
      readonly create: () => UsageSource;
    },
  ): UsageCache {
    const known = caches.get(key);
    if (known !== undefined) return known;
    const failure = failures.get(key);
    if (failure !== undefined && clock.monotonic() - failure.atMs < RETRY_MS) {
      return unavailable(failure.message);
    }
    try {
      const answered = (tookMs: number): void => collected?.(provider, tookMs);
      const cache = createUsageCache({ source: withTimeout(create(), { clock, answered }), clock });
      caches.set(key, cache);
      failures.delete(key);
      return cache;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const message = `the source could not be started: ${why}`;
      failures.set(key, { atMs: clock.monotonic(), message });
      log.warn("A source of usage could not be started", { source: key, error: message });
      return unavailable(message);
    }
  }

  return {
    of({ provider, customSource = "", intervalMs }) {
      const lifeMs = cacheLifeMs({ intervalMs });
      const sources = providers[provider];
      if (typeof sources === "function") {
        return cacheOf(provider, { provider, create: sources }).within(lifeMs);
      }
      const create = sources.get(customSource);
      const cache = create === undefined
        ? unavailable(missingSource(customSource, sources))
        : cacheOf(`${provider} ${customSource}`, { provider, create });
      return cache.within(lifeMs);
    },
  };
}

function missingSource(name: string, sources: ReadonlyMap<string, unknown>): string {
  const names = [...sources.keys()].join(", ");
  const known = names === "" ? "are none" : `are: ${names}`;
  return `no custom source ${quotedText(name)} is configured; there ${known}`;
}

function unavailable(message: string): UsageCache {
  const usage: UsageSource["usage"] = () => Promise.resolve({ problem: "unavailable", message });
  return { within: () => ({ usage }) };
}

/** How long answers count for a policy with this interval, ms. */
export function cacheLifeMs({ intervalMs }: { readonly intervalMs: number }): number {
  return Math.min(LONGEST_LIFE_MS, intervalMs / 2);
}

/** As `source`, but each answer within {@linkcode TIMEOUT_MS}. */
function withTimeout(
  source: UsageSource,
  { clock, answered }: {
    readonly clock: UsageSourceParts["clock"];
    /** Called with how long the source took, ms, unless the question was aborted. */
    readonly answered: (tookMs: number) => void;
  },
): UsageSource {
  return {
    async usage(question, signal) {
      const begunAt = clock.monotonic();
      const [over, done] = [new AbortController(), new AbortController()];
      const late = clock.sleep(TIMEOUT_MS, done.signal).then((): UsageAnswer => ({
        problem: "unreachable",
        message: `no answer came within ${TIMEOUT_MS / 1000} s`,
      }));
      try {
        const answer = source.usage(question, AbortSignal.any([signal, over.signal]));
        return await Promise.race([answer, late]);
      } finally {
        over.abort();
        done.abort();
        if (!signal.aborted) answered(clock.monotonic() - begunAt);
      }
    },
  };
}

/** Answers of one source. */
export interface UsageCache {
  /** The source itself, but an answer that came less than `lifeMs` ago will do, or one in flight. */
  within(lifeMs: number): UsageSource;
}

interface Entry {
  readonly answer: Promise<UsageAnswer>;
  /** Ends the call when no question waits for it any more. */
  readonly stop: AbortController;
  waiting: number;
  /** Once the answer is there. */
  settled?: { readonly atMs: number; readonly failed: boolean };
}

const ABORTED: UsageAnswer = { problem: "unreachable", message: "the question was called off" };

/** An empty cache. */
export function createUsageCache(
  { source, clock }: { readonly source: UsageSource; readonly clock: Pick<Clock, "monotonic"> },
): UsageCache {
  /** By question, those in flight among them. */
  const entries = new Map<string, Entry>();

  function isFresh({ settled }: Entry, lifeMs: number): boolean {
    if (settled === undefined) return true;
    const mostMs = settled.failed ? Math.min(lifeMs, FAILURE_LIFE_MS) : lifeMs;
    return clock.monotonic() - settled.atMs < mostMs;
  }

  function ask(key: string, question: UsageQuestion): Entry {
    // Answers are large: none stays that can't be used.
    for (const [old, entry] of entries) {
      if (!isFresh(entry, LONGEST_LIFE_MS)) entries.delete(old);
    }
    const stop = new AbortController();
    const entry: Entry = { answer: source.usage(question, stop.signal), stop, waiting: 0 };
    entries.set(key, entry);
    return entry;
  }

  return {
    within: (lifeMs) => ({
      async usage(question, signal) {
        if (signal.aborted) return ABORTED;
        const key = keyOf(question);
        const known = entries.get(key);
        if (known?.settled !== undefined && isFresh(known, lifeMs)) return await known.answer;
        const entry = known !== undefined && isFresh(known, lifeMs) ? known : ask(key, question);
        const answer = await waitFor(entry, signal);
        if (entry.settled !== undefined) return answer;
        if (answer !== ABORTED) {
          entry.settled = { atMs: clock.monotonic(), failed: "problem" in answer };
        } else if (entry.waiting === 0) {
          if (entries.get(key) === entry) entries.delete(key);
          entry.stop.abort();
        }
        return answer;
      },
    }),
  };
}

async function waitFor(entry: Entry, signal: AbortSignal): Promise<UsageAnswer> {
  const aborted = Promise.withResolvers<UsageAnswer>();
  const leave = (): void => aborted.resolve(ABORTED);
  signal.addEventListener("abort", leave, { once: true });
  entry.waiting++;
  try {
    return await Promise.race([entry.answer, aborted.promise]);
  } finally {
    entry.waiting--;
    signal.removeEventListener("abort", leave);
  }
}

/** The same question a little later has another window of the same length. */
function keyOf({ namespace, workload, containers, window }: UsageQuestion): string {
  const { kind, name, uid } = workload;
  return JSON.stringify([namespace, kind, name, uid, containers, window.toMs - window.fromMs]);
}

/** What connections are made with. */
export interface UsageConnections extends Omit<UsageSourceParts, "providers" | "clock"> {
  readonly settings: () => Pick<
    ControllerSettings,
    | "prometheusURL"
    | "prometheusLogin"
    | "prometheusHeaders"
    | "prometheusMatchers"
    | "customSources"
  >;
  /** Usage that was sampled from metrics-server. */
  readonly sampler: UsageSource;
  readonly clock: Clock;
}

type Connect = (
  connections: UsageConnections,
  loginOf: (files: LoginFiles, headers?: RequestHeaders) => HTTPLogin,
) => ProviderSources;

/** How each provider's sources are connected. */
const CONNECTIONS: Readonly<Record<UsageProvider, Connect>> = {
  prometheus: ({ settings }, loginOf) => () => {
    const { prometheusLogin, prometheusHeaders } = settings();
    return createPrometheusUsage({
      queries: createRangeQueries({ login: loginOf(prometheusLogin, prometheusHeaders) }),
      server: () => settings().prometheusURL,
      matchers: () => settings().prometheusMatchers,
    });
  },
  "metrics-server": ({ sampler }) => () => sampler,
  custom: ({ settings }, loginOf) =>
    new Map(
      Array.from(settings().customSources, ([name, { url, login }]) => [
        name,
        () => createCustomUsageSource(createCustomUsage({ url, login: loginOf(login) })),
      ]),
    ),
};

/** The sources that the settings name. Prometheus's address is followed while the program runs. */
export function connectUsageSources(
  connections: UsageConnections,
): UsageSources & { /** Closes idle connections. */ close(): void } {
  const { clock } = connections;
  const logins: HTTPLogin[] = [];
  const loginOf = (files: LoginFiles, headers?: RequestHeaders): HTTPLogin => {
    const login = createHTTPLogin(files, { clock, ...(headers === undefined ? {} : { headers }) });
    logins.push(login);
    return login;
  };
  const connected = Object.entries(CONNECTIONS).map(([provider, connect]) => [
    provider,
    connect(connections, loginOf),
  ]);
  const sources = createUsageSources({ ...connections, providers: Object.fromEntries(connected) });
  return {
    of: sources.of,
    close() {
      for (const login of logins) login.close();
    },
  };
}

/** A user's own server of usage. */
export interface CustomUsageServer {
  /** Samples in millicores and bytes by container. Never rejects; `signal` ends the wait. */
  ask(
    question: UsageQuestion,
    signal: AbortSignal,
  ): Promise<
    | {
      readonly containers: ReadonlyMap<
        string,
        { readonly cpu: TimedValues; readonly memory: TimedValues }
      >;
    }
    | UsageProblem
  >;
}

/** A source over that server; samples outside of the window or of other containers are left out. */
export function createCustomUsageSource(server: CustomUsageServer): UsageSource {
  return {
    async usage(question, signal) {
      const samples = createCollectedSamples(question);
      if (question.containers.length === 0) return { usage: samples.usage() };
      const answer = await server.ask(question, signal);
      if ("problem" in answer) return answer;
      for (const [container, { cpu, memory }] of answer.containers) {
        samples.add(cpu, { container, resource: "cpu", factor: 1 });
        samples.add(memory, { container, resource: "memory", factor: 1 });
      }
      return { usage: samples.usage() };
    },
  };
}
