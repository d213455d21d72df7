/**
 * The agent's settings: from the text of its flags to checked numbers.
 *
 * @module
 */

/** Flags as they were typed; absent ones have their defaults from the command line's definition. */
export interface AgentFlags {
  readonly cgroupRoot: string;
  readonly interval: string;
  readonly cores?: string;
  readonly json?: boolean;
}

/** What the agent runs with. */
export interface AgentConfig {
  /** Directory under which the cgroup hierarchies are mounted; no slash at its end. */
  readonly cgroupRoot: string;
  /** Time between two looks. */
  readonly intervalMs: number;
  /** CPUs of the node; absent means: ask the cgroups. */
  readonly cores?: number;
  /** JSON instead of a table. */
  readonly json: boolean;
}

/** Where the host's `/sys/fs/cgroup` is mounted in the agent's pod. */
export const DEFAULT_CGROUP_ROOT = "/host/cgroup";

/** Below 10 ms the kernel's counters say nothing, above a minute they say nothing about now. */
const SHORTEST_MS = 10;
const LONGEST_MS = 60_000;
const MOST_CORES = 8192;

const MS_PER_UNIT: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 };

/** Checks the flags. Throws a `RangeError` or a `SyntaxError` that names flag, value and remedy. */
export function agentConfig(
  { cgroupRoot, interval, cores, json = false }: AgentFlags,
): AgentConfig {
  const root = cgroupRoot.replace(/(?<=.)\/+$/, "");
  if (root === "") {
    throw new RangeError("Cannot run the agent: --cgroup-root is empty, expected a directory");
  }
  const intervalMs = parseDuration(interval, "--interval");
  if (intervalMs < SHORTEST_MS || intervalMs > LONGEST_MS) {
    throw new RangeError(`Cannot run the agent: --interval ${interval} is not between 10ms and 1m`);
  }
  const config = { cgroupRoot: root, intervalMs, json };
  return cores === undefined ? config : { ...config, cores: parseCores(cores) };
}

/** Milliseconds of a duration such as `250ms`, `1.5s` or `2m`. */
function parseDuration(text: string, flag: string): number {
  const [, number, unit = ""] = /^(\d+(?:\.\d+)?)(ms|s|m)$/.exec(text) ?? [];
  const factor = MS_PER_UNIT[unit];
  if (number === undefined || factor === undefined) {
    throw new SyntaxError(
      `Cannot run the agent: ${flag} "${text}" is not a duration, expected for instance 250ms or 2s`,
    );
  }
  return Number(number) * factor;
}

function parseCores(text: string): number {
  const cores = Number(text);
  if (!Number.isInteger(cores) || cores < 1 || cores > MOST_CORES || !/^\d+$/.test(text)) {
    throw new RangeError(
      `Cannot run the agent: --cores "${text}" is not a whole number from 1 to 8192`,
    );
  }
  return cores;
}
