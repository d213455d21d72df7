/**
 * Sources of usage by the names that policies give them: bounded in time, asked once for all that ask the same.
 *
 * @module
 */
import type { Clock } from "../../../shared/clock.ts";
import type { Log } from "../../../shared/log.ts";
import { quotedText } from "../../../shared/quoted_text.ts";
import type { PolicySpec } from "../../../shared/rightsizing/policy_spec.ts";
import type { UsageAnswer, UsageProblem, UsageQuestion, UsageSource } from "../ports.ts";
import { createCustomUsage } from "../../../adapters/custom_usage.ts";
import { createHTTPLogin, type HTTPLogin } from "../../../adapters/http_login.ts";
import { createRangeQueries } from "../../../adapters/prometheus/range_queries.ts";
import type { LoginFiles } from "../../../shared/config/login_files.ts";
import type { RequestHeaders } from "../../../shared/config/request_headers_kind.ts";
import type { ControllerSettings } from "../../settings.ts";
import { createCollectedSamples, type TimedValues } from "./collected_samples.ts";
import { createPrometheusUsage } from "./prometheus_usage.ts";

/** What is cached, and for how long failures are. */
export interface UsageCacheOptions {
  readonly source: UsageSource;
  readonly clock: Pick<Clock, "monotonic">;
  /**
   * A failure is cached for this long, ms: a question that follows at once does not wait for another one.
   *
   * @default {5000}
   */
  readonly failureLifeMs?: number;
}

/** Answers of one source. */
export interface UsageCache {
  /** The source itself, but an answer that came less than `lifeMs` ago will do, or one on its way. */
  within(lifeMs: number): UsageSource;
}

/** No answer is used longer. */
const LONGEST_LIFE_MS = 60_000;

/** How long answers count for a policy with this interval, ms. */
export function cacheLifeMs({ intervalMs }: { readonly intervalMs: number }): number {
  return Math.min(LONGEST_LIFE_MS, intervalMs / 2);
}

interface Entry {
  readonly answer: Promise<UsageAnswer>;
  /** Ends the call when no question waits for it any more. */
  readonly stop: AbortController;
  waiting: number;
  /** Once it is there. */
  settled?: { readonly atMs: number; readonly failed: boolean };
}

const CALLED_OFF: UsageAnswer = { problem: "unreachable", message: "the question was called off" };

/** An empty cache. */
export function createUsageCache(
  { source, clock, failureLifeMs = 5000 }: UsageCacheOptions,
): UsageCache {
  /** By question, those on their way among them. */
  const entries = new Map<string, Entry>();

  function isFresh({ settled }: Entry, lifeMs: number): boolean {
    if (settled === undefined) return true;
    const mostMs = settled.failed ? Math.min(lifeMs, failureLifeMs) : lifeMs;
    return clock.monotonic() - settled.atMs < mostMs;
  }

  /** Answers are large: none stays that can't be used. */
  function forgetOld(): void {
    for (const [key, entry] of entries) {
      if (!isFresh(entry, LONGEST_LIFE_MS)) entries.delete(key);
    }
  }

  function ask(key: string, question: UsageQuestion): Entry {
    forgetOld();
    const stop = new AbortController();
    const answer = source.usage(question, stop.signal);
    const entry: Entry = { answer, stop, waiting: 0 };
    entries.set(key, entry);
    return entry;
  }

  async function wait(entry: Entry, signal: AbortSignal): Promise<UsageAnswer> {
    const off = Promise.withResolvers<UsageAnswer>();
    const leave = (): void => off.resolve(CALLED_OFF);
    signal.addEventListener("abort", leave, { once: true });
    entry.waiting++;
    try {
      return await Promise.race([entry.answer, off.promise]);
    } finally {
      entry.waiting--;
      signal.removeEventListener("abort", leave);
    }
  }

  return {
    within: (lifeMs) => ({
      async usage(question, signal) {
        if (signal.aborted) return CALLED_OFF;
        const key = keyOf(question);
        const known = entries.get(key);
        if (known?.settled !== undefined && isFresh(known, lifeMs)) return await known.answer;
        const entry = known !== undefined && isFresh(known, lifeMs) ? known : ask(key, question);
        const answer = await wait(entry, signal);
        if (entry.settled !== undefined) return answer;
        if (answer !== CALLED_OFF) {
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

/** The same question a little later asks for another window of the same length. */
function keyOf({ namespace, workload, containers, window }: UsageQuestion): string {
  const { kind, name, uid } = workload;
  return JSON.stringify([namespace, kind, name, uid, containers, window.toMs - window.fromMs]);
}

/** For all of an answer, ms: large ones take many requests, each of which has a timeout of its own. */
const TIMEOUT_MS = 300_000;

/** As `source`, but each answer within {@linkcode TIMEOUT_MS}. */
function withTimeout(
  source: UsageSource,
  { clock, answered }: {
    readonly clock: UsageSourceParts["clock"];
    /** Called with how long the source took, ms, unless the question was called off. */
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

/** Called when a source was asked and has answered, or has not; `provider` is the policies' word for it. */
export type CollectionObserver = (provider: string, tookMs: number) => void;

/** How the sources are made; none is before a policy asks for it. */
export interface UsageSourceParts {
  readonly prometheus: () => UsageSource;
  readonly metricsServer: () => UsageSource;
  /** By the name in the configuration. */
  readonly custom: ReadonlyMap<string, () => UsageSource>;
  readonly clock: Pick<Clock, "monotonic" | "sleep">;
  readonly log: Log;
  /** Called with how long a source took for an answer that was not cached. */
  readonly collected?: CollectionObserver;
}

/** The sources. */
export interface UsageSources {
  /**
   * That of a policy, with its cache. Where there is none of the name, or it could not be started, one
   * that says so; the others are as they were.
   */
  of(policy: Pick<PolicySpec, "provider" | "customSource" | "intervalMs">): UsageSource;
}

/** Sources that are made when they are asked for. A start that failed is tried again, after a pause. */
export function createUsageSources(
  { prometheus, metricsServer, custom, clock, log, collected }: UsageSourceParts,
): UsageSources {
  const caches = new Map<string, UsageCache>();
  const failures = new Map<string, { readonly atMs: number; readonly message: string }>();

  function started(name: string, start: () => UsageSource): UsageCache {
    const known = caches.get(name);
    if (known !== undefined) return known;
    const failure = failures.get(name);
    const rests = failure !== undefined && clock.monotonic() - failure.atMs < RETRY_MS;
    if (rests) return unavailable(failure.message);
    try {
      const source = withTimeout(start(), {
        clock,
        answered: (tookMs) => collected?.(providerOf(name), tookMs),
      });
      const cache = createUsageCache({ source, clock });
      caches.set(name, cache);
      failures.delete(name);
      return cache;
    } catch (error) {
      const message = `the source could not be started: ${
        error instanceof Error ? error.message : String(error)
      }`;
      failures.set(name, { atMs: clock.monotonic(), message });
      log.warn("A source of usage could not be started", { source: name, error: message });
      return unavailable(message);
    }
  }

  function cacheOf({ provider, customSource = "" }: Parameters<UsageSources["of"]>[0]): UsageCache {
    if (provider === "prometheus") return started(provider, prometheus);
    if (provider === "metrics-server") return started(provider, metricsServer);
    const start = custom.get(customSource);
    if (start !== undefined) return started(`custom ${customSource}`, start);
    const names = [...custom.keys()].join(", ");
    return unavailable(
      `no custom source ${quotedText(customSource)} is configured; there ${
        names === "" ? "are none" : `are: ${names}`
      }`,
    );
  }

  return { of: (policy) => cacheOf(policy).within(cacheLifeMs(policy)) };
}

/** Between two attempts to start a source, ms. */
const RETRY_MS = 30_000;

/** The word of policies: custom sources are of one kind. */
function providerOf(name: string): string {
  return name.replace(/ .*$/, "");
}

/** What stands for a source that there is not. */
function unavailable(message: string): UsageCache {
  const usage: UsageSource["usage"] = () => Promise.resolve({ problem: "unavailable", message });
  return { within: () => ({ usage }) };
}

/** Samples in millicores and bytes by container, or why there are none. */
export type CustomUsageAnswer = {
  readonly containers: ReadonlyMap<
    string,
    { readonly cpu: TimedValues; readonly memory: TimedValues }
  >;
} | UsageProblem;

/** Asks that server. */
export interface CustomUsageServer {
  /** Never rejects; `signal` ends the wait. */
  ask(question: UsageQuestion, signal: AbortSignal): Promise<CustomUsageAnswer>;
}

/** A source that asks once; what is outside of the window, or not asked for, is left out. */
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

/** What says where the servers are, and what is made elsewhere. */
export interface UsageConnections {
  readonly settings: () => Pick<
    ControllerSettings,
    | "prometheusURL"
    | "prometheusLogin"
    | "prometheusHeaders"
    | "prometheusMatchers"
    | "customSources"
  >;
  /** What the sampler of metrics-server keeps. */
  readonly sampler: UsageSource;
  readonly clock: Clock;
  readonly log: Log;
  /** Called with how long a source took for an answer. */
  readonly collected?: CollectionObserver;
}

/** Sources with connections of their own. */
export interface ConnectedUsageSources extends UsageSources {
  /** Lets go of idle connections. */
  close(): void;
}

/** The sources that the settings name. Prometheus's address is followed while the program runs. */
export function connectUsageSources(
  { settings, sampler, clock, log, collected }: UsageConnections,
): ConnectedUsageSources {
  const logins: HTTPLogin[] = [];
  const loginOf = (files: LoginFiles, headers?: RequestHeaders): HTTPLogin => {
    const login = createHTTPLogin(files, { clock, ...(headers === undefined ? {} : { headers }) });
    logins.push(login);
    return login;
  };
  const custom = new Map(
    Array.from(settings().customSources, ([name, { url, login }]) => [
      name,
      () => createCustomUsageSource(createCustomUsage({ url, login: loginOf(login) })),
    ]),
  );
  const sources = createUsageSources({
    prometheus() {
      const { prometheusLogin, prometheusHeaders } = settings();
      return createPrometheusUsage({
        queries: createRangeQueries({ login: loginOf(prometheusLogin, prometheusHeaders) }),
        server: () => settings().prometheusURL,
        matchers: () => settings().prometheusMatchers,
      });
    },
    metricsServer: () => sampler,
    custom,
    clock,
    log,
    ...(collected === undefined ? {} : { collected }),
  });
  return {
    of: sources.of,
    close() {
      for (const login of logins) login.close();
    },
  };
}
