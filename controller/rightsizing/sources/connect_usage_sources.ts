/**
 * The sources of usage, on real connections.
 *
 * @module
 */
import { createCustomUsage } from "../../../adapters/custom_usage.ts";
import { createHTTPLogin, type HTTPLogin } from "../../../adapters/http_login.ts";
import { createRangeQueries } from "../../../adapters/prometheus/range_queries.ts";
import type { Clock } from "../../../shared/clock.ts";
import type { LoginFiles } from "../../../shared/config/server_kinds.ts";
import type { RequestHeaders } from "../../../shared/config/server_kinds.ts";
import type { Log } from "../../../shared/log.ts";
import type { ControllerSettings } from "../../settings.ts";
import type { UsageProblem, UsageQuestion, UsageSource } from "../ports.ts";
import { createCollectedSamples, type TimedValues } from "./collected_samples.ts";
import { createPrometheusUsage } from "./prometheus_usage.ts";
import { type CollectionObserver, createUsageSources, type UsageSources } from "./usage_sources.ts";

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
