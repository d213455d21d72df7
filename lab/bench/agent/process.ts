/**
 * The agent as it is shipped, as a process that is watched from outside. Needs Linux' /proc and
 * therefore all permissions.
 *
 * @module
 */
import {
  bundleProgram,
  PROGRAM_ENVIRONMENT,
  PROGRAMS,
  V8_FLAGS,
} from "../../../tools/build/programs.ts";
import { permissionFlags, type PermissionSet } from "../../../tools/build/permission_flags.ts";
import { seriesIn } from "../../../tests/cluster/scene/product.ts";
import { pause } from "../../../tests/cluster/scene/until.ts";
import { memoryKiB } from "../bench.ts";
import { type AgentAPI, BENCH_NODE } from "./api.ts";

/** CPU and memory that the agent used. */
export interface AgentUse {
  /** CPU time used / time, millicores. */
  readonly millicores: number;
  /** Resident memory at the end and at its highest, MB of 10^6 bytes. */
  readonly rssMB: number;
  readonly highestRSSMB: number;
  /** Looks at the node per second. */
  readonly looksPerSecond: number;
}

/** How long, milliseconds. */
export interface AgentMeasurement {
  /** Before the measurement: start, first list, compilation. */
  readonly warmUpMs: number;
  readonly measureMs: number;
}

type Observed = Readonly<Record<"at" | "cpuMs" | "looks", number>>;

const LISTEN = "127.0.0.1:18081";
const TICKS_PER_SECOND = 100;
/** A scrape of the metrics this often, as Prometheus does. */
const SCRAPE_MS = 15_000;

/** The command line, the paths and ports of this machine in the place of the shipped ones. */
export async function agentCommand(
  { cgroupRoot, kubeconfig, address }: Pick<AgentAPI, "kubeconfig" | "address"> & {
    readonly cgroupRoot: string;
  },
): Promise<string[]> {
  const program = PROGRAMS.find(({ name }) => name === "mbcas-agent");
  if (program === undefined) throw new TypeError("Cannot run the agent: it is not shipped");
  const bundle = await bundleProgram(program);
  const config = JSON.parse(
    await Deno.readTextFile(new URL("../../../deno.json", import.meta.url)),
  );
  const shipped: PermissionSet = config.permissions[program.permissions];
  const here = {
    ...shipped,
    read: [cgroupRoot, "/host/kernel/sched_ext/state", kubeconfig],
    net: [address, LISTEN],
  };
  return [
    ..."run --quiet --no-config --no-lock --no-remote --no-npm --no-code-cache".split(" "),
    V8_FLAGS,
    ...permissionFlags(here),
    new URL(`../../../${bundle}`, import.meta.url).pathname,
    ...["--kubeconfig", kubeconfig, "--cgroup-root", cgroupRoot],
    ...["--node-name", BENCH_NODE, "--listen", LISTEN],
  ];
}

/**
 * Runs it and reports what it used. Throws an `Error` with its message when it ends by itself, or warns
 * of anything: then it did not do the work that is to be measured.
 */
export async function measureAgent(
  args: readonly string[],
  measurement: AgentMeasurement,
): Promise<AgentUse> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [...args],
    env: { ...PROGRAM_ENVIRONMENT, NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" },
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const output = Promise.all([child.stdout, child.stderr].map((one) => new Response(one).text()))
    .then((texts) => texts.join(""));
  let use: AgentUse;
  try {
    use = await measured(child.pid, measurement);
  } catch (cause) {
    await end(child);
    throw new Error(`Cannot measure the agent: ${cause}; it said: ${await output}`, { cause });
  }
  await end(child);
  const warning = (await output).split("\n").find((line) => /"level":"(WARN|ERROR)"/.test(line));
  if (warning !== undefined) throw new Error(`Cannot measure the agent: it said: ${warning}`);
  return use;
}

async function end(child: Deno.ChildProcess): Promise<void> {
  try {
    child.kill("SIGTERM");
  } catch {
    // It has ended already.
  }
  await child.status;
}

async function measured(pid: number, { warmUpMs, measureMs }: AgentMeasurement): Promise<AgentUse> {
  const before = await observed(pid, warmUpMs);
  const after = await observed(pid, measureMs);
  const looks = after.looks - before.looks;
  if (!(looks > 0)) throw new Error("Cannot measure the agent: it did not look at the node");
  return {
    millicores: (after.cpuMs - before.cpuMs) / (after.at - before.at) * 1000,
    rssMB: memoryKiB(pid, "VmRSS") * 1.024e-3,
    highestRSSMB: memoryKiB(pid, "VmHWM") * 1.024e-3,
    looksPerSecond: looks / (after.at - before.at) * 1000,
  };
}

/** The agent's totals after so long, in which it was scraped as often as by Prometheus. */
async function observed(pid: number, ms: number): Promise<Observed> {
  let text = "";
  for (let left = ms; left > 0; left -= SCRAPE_MS) {
    await pause(Math.min(left, SCRAPE_MS));
    text = await (await fetch(`http://${LISTEN}/metrics`)).text();
  }
  const looks = seriesIn(text).get("mbcas_sample_duration_seconds_count") ?? NaN;
  return { at: performance.now(), cpuMs: cpuMs(pid), looks };
}

/** User and system time of a process, ms (Linux, proc_pid_stat(5), fields 14 and 15). */
function cpuMs(pid: number): number {
  const stat = Deno.readTextFileSync(`/proc/${pid}/stat`);
  // The name, in parentheses, may hold blanks; the third field comes after it.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND * 1000;
}
