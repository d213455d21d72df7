/**
 * What the process itself uses, as metrics. prom-client's own defaults read `/proc` and the host's
 * figures, for which the programs have no permission.
 *
 * @module
 */
import { cpuUsage } from "node:process";
import { Counter, Gauge, type Registry } from "prom-client";

/**
 * Puts `process_cpu_seconds_total`, `process_resident_memory_bytes` and
 * `process_start_time_seconds` into the registry.
 */
export function registerProcessMetrics(
  registry: Registry,
  { startedAtMs }: { readonly startedAtMs: number },
): void {
  const registers = [registry];
  new Counter({
    name: "process_cpu_seconds_total",
    help: "Total user and system CPU time spent in seconds.",
    registers,
    collect() {
      const { user, system } = cpuUsage();
      this.reset();
      this.inc((user + system) / 1e6);
    },
  });
  new Gauge({
    name: "process_resident_memory_bytes",
    help: "Resident memory size in bytes.",
    registers,
    collect() {
      this.set(Deno.memoryUsage().rss);
    },
  });
  new Gauge({
    name: "process_start_time_seconds",
    help: "Start time of the process since the Unix epoch in seconds.",
    registers,
  }).set(startedAtMs / 1000);
}
