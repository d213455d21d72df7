/**
 * What the kernel counts of one cgroup. Independent of the agent's own reading, so that a test does
 * not ask the code under test.
 *
 * @module
 */

/** The counters of one cgroup since its start; times in ms. */
export interface LevelCounters {
  readonly usageMs: number;
  readonly throttledMs: number;
}

/** Reads the counters of a directory, in version 1 one of the `cpu` tree. */
export function levelCounters(directory: string, version: 1 | 2): LevelCounters {
  const stat = new Map(
    read(`${directory}/cpu.stat`).split("\n").map((line) => {
      const [key = "", value = "0"] = line.split(" ");
      return [key, Number(value)];
    }),
  );
  const ms = (key: string, perMs: number): number => (stat.get(key) ?? 0) / perMs;
  return {
    usageMs: version === 1
      ? Number(read(`${directory.replace("/cpu/", "/cpuacct/")}/cpuacct.usage`)) / 1e6
      : ms("usage_usec", 1e3),
    throttledMs: version === 1 ? ms("throttled_time", 1e6) : ms("throttled_usec", 1e3),
  };
}

function read(file: string): string {
  return Deno.readTextFileSync(file).trim();
}
