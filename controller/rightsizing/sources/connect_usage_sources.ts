/**
 * The sources of usage on real servers.
 *
 * @module
 */
import { createCustomUsage } from "../../../adapters/custom_usage.ts";
import { createHTTPLogin, type HTTPLogin } from "../../../adapters/http_login.ts";
import { createRangeQueries } from "../../../adapters/prometheus/range_queries.ts";
import type { Clock } from "../../../shared/clock.ts";
import type { LoginFiles } from "../../../shared/config/login_files.ts";
import type { RequestHeaders } from "../../../shared/config/request_headers_kind.ts";
import type { Log } from "../../../shared/log.ts";
import type { ControllerSettings } from "../../settings.ts";
import type { UsageSource } from "../ports.ts";
import type { RightsizingObserver } from "../rightsizing_observer.ts";
import { createCustomUsageSource } from "./custom_usage.ts";
import { createPrometheusUsage } from "./prometheus_usage.ts";
import { createUsageSources, type UsageSources } from "./usage_sources.ts";

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
  /** Hears how long a source took for an answer. */
  readonly collected?: RightsizingObserver["collected"];
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
