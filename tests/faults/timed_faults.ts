/**
 * Lets the faults happen that have a time of their own; those of requests wait for their request.
 *
 * @module
 */
import type { Fault } from "./fault.ts";
import type { FaultCluster } from "./cluster/fault_cluster.ts";

/** Sets a timer for each fault with a time. */
export function scheduleFaults(cluster: FaultCluster, faults: readonly Fault[]): void {
  for (const fault of faults) {
    if ("atMs" in fault) cluster.clock.at(fault.atMs, () => happen(cluster, fault));
  }
}

function happen(cluster: FaultCluster, fault: Extract<Fault, { atMs: number }>): void {
  const { api, clock, processes } = cluster;
  const later = (action: () => void, ms: number): void =>
    void clock.at(clock.monotonic() + ms, action);
  switch (fault.fault) {
    case "kill":
      return processes.kill(fault.process, fault.ms);
    case "pause":
      return processes.get(fault.process)?.process.pause(fault.ms);
    case "clockJump":
      return processes.get(fault.process)?.process.jumpClock(fault.ms);
    case "listFailure":
    case "travel":
      return processes.get(fault.process)?.client.breakWatches(fault.object);
    case "outage":
      api.stop();
      return later(api.start, fault.ms);
    case "compact":
      api.compact();
      return api.closeWatches();
    case "closeWatches":
      return api.closeWatches();
    case "optOut":
      cluster.optOut(fault.namespace, true);
      return later(() => cluster.optOut(fault.namespace, false), fault.ms);
    case "freeze":
    case "duplicate":
    case "refuse":
      return;
    default:
      return cluster.apply(fault);
  }
}
