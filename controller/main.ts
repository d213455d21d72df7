/**
 * The controller: wiring.
 *
 * Exit codes: 0 clean end, 1 the connection or a loop failed, or the leadership was lost, 2 wrong
 * settings.
 *
 * @module
 */
import "../adapters/node_require.ts";
import { Registry } from "prom-client";
import { createHTTPLogin } from "../adapters/http_login.ts";
import { createJSONLog } from "../adapters/json_log.ts";
import { connectInCluster, connectKubeconfig } from "../adapters/kube/client/connect.ts";
import { healthRoutes, registerProgramMetrics, serveHTTP } from "../adapters/program_server.ts";
import { programEnvironment, readProgramSettings } from "../adapters/program_settings.ts";
import { programSignals } from "../adapters/program_signals.ts";
import { createInstantQueries } from "../adapters/prometheus/instant_queries.ts";
import { systemClock } from "../adapters/system_clock.ts";
import { type AuditLog, createAuditLog } from "../shared/audit_log.ts";
import type { Clock } from "../shared/clock.ts";
import { effectiveFields } from "../shared/config/load.ts";
import type { Log } from "../shared/log.ts";
import type { Random } from "../shared/random.ts";
import { connectDashboard } from "./dashboard/connect_dashboard.ts";
import { connectControllerAPI } from "./controller_api.ts";
import { createLiveSettings, type LiveSettings, warnOfOverridden } from "./live_settings.ts";
import { createDropCounter } from "./metrics.ts";
import { createParts } from "./parts.ts";
import { runController } from "./run_controller.ts";
import { CONTROLLER_PROGRAM, CONTROLLER_SETTINGS, IGNORED_SECTIONS } from "./settings.ts";
import { connectWebhook } from "./webhook/connect_webhook.ts";
import { createWebhookMetrics } from "./webhook/metrics.ts";

const encoder = new TextEncoder();
const print = (part: string): void => void Deno.stdout.writeSync(encoder.encode(part));
const printAudit = (part: string): void => void Deno.stderr.writeSync(encoder.encode(part));

/** Reads the settings and runs the controller; resolves with the exit code. */
async function main(): Promise<number> {
  const begun = readProgramSettings(CONTROLLER_PROGRAM, {
    args: Deno.args,
    env: programEnvironment(CONTROLLER_SETTINGS),
    ignoredSections: IGNORED_SECTIONS,
  });
  if ("exitCode" in begun) {
    if (begun.exitCode === 0) print(begun.text);
    else Deno.stderr.writeSync(encoder.encode(begun.text));
    return begun.exitCode;
  }

  const { stopGrace: graceMs, logLevel: level, logFormat: format } = begun.settings.values;
  const clock = systemClock;
  const log = createJSONLog({ write: print, clock, program: "controller", level, format });
  log.info("Effective settings", effectiveFields(begun.settings));
  for (const fault of begun.faults) log.error("Settings refused", { fault });
  warnOfOverridden(begun.settings, log);
  using signals = programSignals({
    graceMs,
    onDeadline() {
      log.error("The end took too long", { graceMs });
      Deno.exit(1);
    },
  });
  return await run(createLiveSettings(begun, log), { clock, log, signal: signals.signal });
}

/** Ports and settings that all parts of the controller share. */
interface Shared {
  readonly clock: Clock;
  readonly log: Log;
  readonly audit: AuditLog;
  readonly random: Random;
  readonly registry: Registry;
}

/** Builds the controller's parts and runs them until the signal is aborted. */
async function run(
  settings: LiveSettings,
  { clock, log, signal }: Pick<Shared, "clock" | "log"> & { readonly signal: AbortSignal },
): Promise<number> {
  const values = settings.values();
  const { kubeconfig, namespace, configMap, listen } = values;
  const registry = new Registry();
  const observe = registerProgramMetrics(registry, {
    program: "controller",
    startedAtMs: clock.wall(),
  });
  const audit = createAuditLog({
    write: printAudit,
    clock,
    newID: () => crypto.randomUUID(),
    onDrop: createDropCounter(registry),
  });
  const shared = { clock, log, audit, random: { next: () => Math.random() }, registry };
  const identity = `${values.identity ?? "controller"}-${crypto.randomUUID().slice(0, 8)}`;
  const connection = kubeconfig === null
    ? await connectInCluster({ program: "controller", observe })
    : await connectKubeconfig({ path: kubeconfig, program: "controller", observe });
  const options = { ...values, ...shared, identity, settings: settings.values };
  const api = connectControllerAPI(connection, options);
  const { unsynced, ...parts } = createParts({ ...shared, api, settings });
  const login = createHTTPLogin(values.prometheusLogin, {
    clock,
    headers: values.prometheusHeaders,
  });
  let waitsFor: string | undefined = "the start check has not ended";
  let webhookWaitsFor: string | undefined;
  const unready = () => waitsFor ?? webhookWaitsFor ?? unsynced();
  const routes = healthRoutes({ unhealthy: () => undefined, unready, registry });
  const server = serveHTTP(routes, { address: listen });
  log.info("Serving", { address: server.address, namespace, configMap: configMap ?? "none" });

  const webhook = values.webhook && connectWebhook(connection, {
    ...{ ...values, clock, log, observer: createWebhookMetrics(registry) },
    waitsFor: (reason) => webhookWaitsFor = reason,
  });
  const { placement: { statuses } = {} } = api;
  const dashboard = values.dashboard && connectDashboard(connection, {
    ...{ clock, log, settings: settings.values },
    ...(statuses === undefined ? {} : { statuses }),
  });
  try {
    return await runController({
      ...{ ...shared, ...parts, api, settings, identity },
      instantQueries: createInstantQueries({ program: "controller", login }),
      ...(webhook ? { webhook } : {}),
      ...(dashboard ? { dashboard } : {}),
      waitsFor: (reason) => waitsFor = reason,
    }, signal);
  } catch (error) {
    log.error("The controller failed", { error: String(error) });
    return 1;
  } finally {
    await server.shutdown();
    connection.close();
    login.close();
    log.info("Ended", { signal: String(signal.reason ?? "none") });
  }
}

if (import.meta.main) Deno.exit(await main());
