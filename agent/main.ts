/**
 * The agent: wiring.
 *
 * Exit codes: 0 done, 1 the node could not be read or a loop failed, 2 the settings were wrong.
 *
 * @module
 */
import { openCgroupTree } from "../adapters/cgroup_files.ts";
import { createJSONLog } from "../adapters/json_log.ts";
import type { OpenKubeConnection } from "../adapters/kube/connection.ts";
import { connectInCluster } from "../adapters/kube/in_cluster_connection.ts";
import { connectKubeconfig } from "../adapters/kube/kubeconfig_connection.ts";
import { programEnvironment, readProgramSettings } from "../adapters/program_settings.ts";
import { programSignals } from "../adapters/program_signals.ts";
import { systemClock } from "../adapters/system_clock.ts";
import type { CgroupTree } from "../shared/cgroup/tree.ts";
import type { Clock } from "../shared/clock.ts";
import { type Effective, effectiveFields } from "../shared/config/effective_settings.ts";
import { isNodeError } from "./node_error.ts";
import { lookOnce } from "./look_once.ts";
import { nodeTable } from "./node_table.ts";
import { runAgent } from "./run_agent.ts";
import { AGENT_SETTINGS, type AgentSettings, OTHER_SECTIONS } from "./settings.ts";

/** Where the program's texts go, its time, and what ends it. */
export interface Surroundings {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly env: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Opens the way to the API. */
  readonly connect: (settings: AgentSettings) => Promise<OpenKubeConnection>;
}

const PROGRAM = {
  name: "agent",
  description: "Clears the CPU market of one node, from what its cgroups tell.",
  table: AGENT_SETTINGS,
};

/**
 * Runs the agent with these arguments; resolves with the exit code. Rejects only for a fault of the
 * program.
 */
export async function runProgram(
  args: readonly string[],
  surroundings: Surroundings,
): Promise<number> {
  const { out, err, env } = surroundings;
  const read = readProgramSettings(PROGRAM, { args, env, otherSections: OTHER_SECTIONS });
  if (!("settings" in read)) {
    (read.exitCode === 0 ? out : err)(read.text);
    return read.exitCode;
  }
  const { values } = read.settings;
  using tree = openCgroupTree(values.cgroupRoot);
  using kernel = openCgroupTree(values.kernelRoot);
  try {
    if (values.once) await showOnce(values, { ...surroundings, tree });
    else return await work(read.settings, { ...surroundings, tree, kernel });
    return 0;
  } catch (error) {
    if (!isNodeError(error)) throw error;
    err(`${error.message}\n`);
    return 1;
  }
}

type Stage = Surroundings & { readonly tree: ReturnType<typeof openCgroupTree> };

/** Files that cannot be used are warned of on `err`; the rest of the node is still shown. */
async function showOnce(
  { interval, cores, json }: AgentSettings,
  { tree, clock, out, err }: Stage,
): Promise<void> {
  const view = await lookOnce(
    { tree, clock, fallbackCores: navigator.hardwareConcurrency },
    { intervalMs: interval, cores },
  );
  for (const warning of view.warnings) err(`${warning}\n`);
  out(json ? `${JSON.stringify(view, null, 2)}\n` : nodeTable(view));
}

async function work(
  settings: Effective<typeof AGENT_SETTINGS>,
  { tree, kernel, clock, out, err, signal, connect }: Stage & { readonly kernel: CgroupTree },
): Promise<number> {
  const { values } = settings;
  const { nodeName, logLevel: level, logFormat: format } = values;
  if (nodeName === null) {
    err("Cannot run agent: --node-name or env NODE_NAME is not set, expected a node's name\n");
    return 2;
  }
  const log = createJSONLog({ write: out, clock, program: PROGRAM.name, level, format });
  log.info("Effective settings", effectiveFields(settings));
  const connection = await connect(values);
  const random = { next: Math.random };
  const parts = { connection, tree, kernel, clock, random, log };
  try {
    await runAgent(
      { ...parts, fallbackCores: navigator.hardwareConcurrency },
      { ...values, nodeName },
      { signal },
    );
  } finally {
    connection.close();
  }
  return 0;
}

if (import.meta.main) {
  const text = new TextEncoder();
  using signals = programSignals({ graceMs: 15_000, onDeadline: () => Deno.exit(1) });
  Deno.exitCode = await runProgram(Deno.args, {
    out: (part) => void Deno.stdout.writeSync(text.encode(part)),
    err: (part) => void Deno.stderr.writeSync(text.encode(part)),
    env: programEnvironment(AGENT_SETTINGS),
    clock: systemClock,
    signal: signals.signal,
    connect: ({ kubeconfig }) =>
      kubeconfig === null ? connectInCluster() : connectKubeconfig({ path: kubeconfig }),
  });
}
