/**
 * The dashboard on a real API server and real agents.
 *
 * @module
 */
import { AGENT_PORT } from "../../shared/installation.ts";
import { boundedFetch, jsonOrUndefined } from "../../adapters/bounded_fetch.ts";
import { createAccessReviews } from "../../adapters/kube/client/api_checks.ts";
import type { KubeConnection } from "../../adapters/kube/client/connection.ts";
import type { HTTPServer } from "../../adapters/program_server.ts";
import { serveTimed } from "../../adapters/timed_server.ts";
import type { RecommendationReport } from "../../shared/api/recommendation_report.ts";
import type { Clock } from "../../shared/clock.ts";
import type { CheckpointStore } from "../../shared/control/persisted_map.ts";
import type { Log } from "../../shared/log.ts";
import { publishedTexts } from "../../shared/placement/status.ts";
import { nodeViewSchema } from "../../shared/view/node_view.ts";
import type { PublishedStatuses } from "../../shared/view/placed_workloads.ts";
import type { ControllerSettings } from "../settings.ts";
import { createAccess } from "./access.ts";
import { agentsAmong, createCollector, type ReadView } from "./collector.ts";
import { STEP_MS } from "./history.ts";
import { marketConfig } from "../config.ts";
import { dashboardRoutes } from "./routes.ts";
import type { ReadCaches } from "../caches.ts";

/** The controller's state that the dashboard shows. */
export interface DashboardSources {
  readonly caches: ReadCaches;
  /** Absent where rightsizing is off. */
  readonly reports?: { all(): Iterable<RecommendationReport> };
}

/** Serves the dashboard until the signal is aborted. */
export type Dashboard = (sources: DashboardSources, signal: AbortSignal) => Promise<void>;

/** Ports and settings of the dashboard. */
export interface DashboardOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** The present settings. */
  readonly settings: () => ControllerSettings;
  /** The published statuses of placement; absent where it is off. */
  readonly statuses?: Pick<CheckpointStore, "list">;
}

/** The dashboard with the rights of this connection. */
export function connectDashboard(
  connection: KubeConnection,
  { clock, log, settings, statuses }: DashboardOptions,
): Dashboard {
  return async ({ caches, reports }, signal) => {
    const { namespace, dashboardListen } = settings();
    const collector = createCollector({
      clock,
      agents: () => agentsAmong(caches.pods.byIndex(namespace)),
      readView,
    });
    let published: PublishedStatuses | undefined;
    const app = dashboardRoutes({
      access: createAccess({ reviews: createAccessReviews(connection), clock }),
      state: {
        caches,
        collector,
        reports: () => reports?.all(),
        placements: () => published,
        scope: () => marketConfig(settings),
        prices() {
          const { corePrice: coreHour, gibPrice: gibHour, currency } = settings();
          return coreHour === 0 && gibHour === 0 ? undefined : { coreHour, gibHour, currency };
        },
      },
      ...{ namespace, collector, clock, log, signal },
    });
    async function followStatuses(): Promise<void> {
      while (statuses !== undefined && !signal.aborted) {
        // The page shows the last statuses that could be read.
        published = await statuses.list(signal).then(publishedTexts).catch(() => published);
        await clock.sleep(STEP_MS, signal);
      }
    }
    let server: HTTPServer | undefined;
    // A failure of the dashboard must not end the controller.
    try {
      server = await serveTimed(app, { address: dashboardListen });
      log.info("Serving the dashboard", { address: server.address });
      await Promise.all([collector.run(signal), followStatuses()]);
    } catch (error) {
      const failed = server === undefined ? "The dashboard is not served" : "The dashboard failed";
      log.error(failed, { error: String(error) });
    } finally {
      await server?.shutdown();
    }
  };
}

const TIMEOUT_MS = 3000;

/** A view of 250 pods has 400 kB; sixteen are read at the same time. */
const MOST_BYTES = 4_000_000;

const readView: ReadView = async ({ ip }, signal) => {
  const url = `http://${ip.includes(":") ? `[${ip}]` : ip}:${AGENT_PORT}/view`;
  const response = await boundedFetch(
    { program: "controller", url, timeoutMs: TIMEOUT_MS, maxBytes: MOST_BYTES },
    signal,
  );
  if ("failed" in response) throw new Error(response.failed);
  const { status, text } = response;
  if (status !== 200) throw new Error(`Cannot read /view: status ${status}`);
  const { data } = nodeViewSchema.safeParse(jsonOrUndefined(text));
  if (data === undefined) throw new Error("Cannot read /view: the agent is of another version");
  return data;
};
