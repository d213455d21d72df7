/**
 * The agent's program: builds its parts from the settings and runs them.
 *
 * Exit codes: 0 done, 1 the node could not be read or a loop failed, 2 the settings were wrong.
 *
 * @module
 */
import "../adapters/node_require.ts";
import { Registry } from "prom-client";
import { openCgroupTree } from "../adapters/cgroup_files.ts";
import {
  healthRoutes,
  type HTTPApp,
  registerProgramMetrics,
  serveHTTP,
} from "../adapters/program_server.ts";
import { createJSONLog } from "../adapters/json_log.ts";
import { allocationListWatch } from "../adapters/kube/kinds/allocations.ts";
import type { KubeConnection, OpenKubeConnection } from "../adapters/kube/client/connection.ts";
import type { RequestObserver } from "../adapters/kube/client/observed_request.ts";
import { createDesiredWriter } from "../adapters/kube/writers/allocation_writers.ts";
import { connectInCluster, connectKubeconfig } from "../adapters/kube/client/connect.ts";
import { createNodeLink } from "../adapters/kube/writers/lease_writers.ts";
import { programEnvironment, readProgramSettings } from "../adapters/program_settings.ts";
import { programSignals } from "../adapters/program_signals.ts";
import { systemClock } from "../adapters/system_clock.ts";
import { NO_LAYOUT } from "../shared/cgroup/layout.ts";
import type { CgroupTree } from "../shared/cgroup/tree.ts";
import type { Clock } from "../shared/clock.ts";
import { type Effective, effectiveFields } from "../shared/config/load.ts";
import { agentLeaseMs } from "../shared/config/schema.ts";
import type { Log } from "../shared/log.ts";
import { createAgent } from "./agent.ts";
import type { LatestRound } from "./reporting/node_view.ts";
import { coresOf, nodeTable, sampleOnce } from "./sampling/sample_once.ts";
import { AGENT_SETTINGS, type AgentSettings, IGNORED_SECTIONS } from "./settings.ts";

/** Output, environment and time of the process, and the signal that ends it. */
export interface ProgramInput {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly env: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Connects to the API server; each request is observed. */
  readonly connect: (
    settings: AgentSettings,
    observe: RequestObserver,
  ) => Promise<OpenKubeConnection>;
}

const PROGRAM = {
  name: "agent",
  description: "Clears the CPU market of one node, from the readings of its cgroups.",
  schema: AGENT_SETTINGS,
};

/**
 * Runs the agent with these arguments; resolves with the exit code. Rejects only for a fault of the
 * program.
 */
export async function runProgram(
  args: readonly string[],
  input: ProgramInput,
): Promise<number> {
  const { out, err, env } = input;
  const read = readProgramSettings(PROGRAM, { args, env, ignoredSections: IGNORED_SECTIONS });
  if (!("settings" in read)) {
    (read.exitCode === 0 ? out : err)(read.text);
    return read.exitCode;
  }
  const { values } = read.settings;
  using tree = openCgroupTree(values.cgroupRoot);
  using kernel = openCgroupTree(values.kernelRoot);
  try {
    if (!values.once) return await serveNode(read.settings, { ...input, tree, kernel });
    await showOnce(values, { ...input, tree });
    return 0;
  } catch (error) {
    if (!isNodeError(error)) throw error;
    err(`${error.message}\n`);
    return 1;
  }
}

/** Whether the error is about the node, so that its message suffices: files are missing or unreadable. */
function isNodeError(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  const { NotFound, NotCapable, PermissionDenied } = Deno.errors;
  // For instance EIO or EMFILE.
  const isSystemError = "code" in error && /^E[A-Z0-9]+$/.test(String(error.code));
  return error.cause === NO_LAYOUT || isSystemError ||
    [NotFound, NotCapable, PermissionDenied].some((kind) => error instanceof kind);
}

/** Warns on `err` of files that cannot be used; the rest of the node is still shown. */
async function showOnce(
  { interval, cores, json }: AgentSettings,
  { tree, clock, out, err }: ProgramInput & { readonly tree: CgroupTree },
): Promise<void> {
  const view = await sampleOnce(
    { tree, clock, fallbackCores: navigator.hardwareConcurrency },
    { intervalMs: interval, cores },
  );
  for (const warning of view.warnings) err(`${warning}\n`);
  out(json ? `${JSON.stringify(view, null, 2)}\n` : nodeTable(view));
}

async function serveNode(
  settings: Effective<typeof AGENT_SETTINGS>,
  input: ProgramInput & Pick<AgentInput, "tree" | "kernel">,
): Promise<number> {
  const { clock, out, err } = input;
  const { nodeName, logLevel: level, logFormat: format } = settings.values;
  if (nodeName === null) {
    err("Cannot run agent: --node-name or env NODE_NAME is not set, expected a node's name\n");
    return 2;
  }
  const log = createJSONLog({ write: out, clock, program: PROGRAM.name, level, format });
  log.info("Effective settings", effectiveFields(settings));
  const registry = new Registry();
  const observe = registerProgramMetrics(registry, {
    program: PROGRAM.name,
    startedAtMs: clock.wall(),
  });
  const connection = await input.connect(settings.values, observe);
  try {
    await runAgent({ ...settings.values, nodeName }, { ...input, connection, registry, log });
  } finally {
    connection.close();
  }
  return 0;
}

/** Input of an agent that serves a node. */
interface AgentInput extends Pick<ProgramInput, "clock" | "signal"> {
  readonly connection: KubeConnection;
  readonly registry: Registry;
  readonly tree: CgroupTree;
  /** The host's `/sys/kernel`. */
  readonly kernel: Pick<CgroupTree, "read">;
  readonly log: Log;
}

/** Runs until the signal is aborted. Throws as the agent does, and when it can't listen. */
async function runAgent(
  settings: AgentSettings & { readonly nodeName: string },
  { connection, registry, tree, kernel, clock, log, signal }: AgentInput,
): Promise<void> {
  const { nodeName, namespace } = settings;
  const random = { next: Math.random };
  const cores = settings.cores ?? coresOf(tree, log) ?? navigator.hardwareConcurrency;
  const fieldSelector = `spec.nodeName=${nodeName}`;
  const durationSeconds = Math.ceil(agentLeaseMs(settings.heartbeat) / 1000);
  const agent = createAgent(settings, {
    ...{ tree, kernel, cores, registry, clock, random, log },
    source: allocationListWatch(connection, { fieldSelector, log, random }),
    writer: createDesiredWriter(connection),
    link: createNodeLink(connection, { nodeName, namespace, clock, durationSeconds }),
  });
  const server = serveHTTP(routes(agent.latest, registry), { address: settings.listen });
  log.info("Agent started", { node: nodeName, cores, listen: server.address });
  try {
    await agent.run(signal);
  } finally {
    await server.shutdown();
  }
  log.info("Agent stopped", { node: nodeName });
}

/** Metrics, probes and `/view` over HTTP. */
function routes(latest: LatestRound, registry: Registry): HTTPApp {
  const app = healthRoutes({ ...latest, registry });
  app.get("/view", (context) => {
    const view = latest.view();
    return view === undefined
      ? context.text(`${latest.unready() ?? "no round yet"}\n`, 503)
      : context.json(view);
  });
  return app;
}

if (import.meta.main) {
  const text = new TextEncoder();
  using signals = programSignals({ graceMs: 15_000, onDeadline: () => Deno.exit(1) });
  const code = await runProgram(Deno.args, {
    out: (part) => void Deno.stdout.writeSync(text.encode(part)),
    err: (part) => void Deno.stderr.writeSync(text.encode(part)),
    env: programEnvironment(AGENT_SETTINGS),
    clock: systemClock,
    signal: signals.signal,
    connect: ({ kubeconfig }, observe) =>
      kubeconfig === null
        ? connectInCluster({ program: "agent", observe })
        : connectKubeconfig({ path: kubeconfig, program: "agent", observe }),
  });
  // A client that does not read its response would keep the process alive.
  Deno.exit(code);
}
