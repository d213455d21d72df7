/**
 * A time of silence that the agents' heartbeat does not fit into.
 *
 * @module
 */
import { agentLeaseMs } from "../shared/config/program_rows.ts";

/** The settings that are looked at, ms. */
export interface CheckedHeartbeat {
  readonly heartbeat: number;
  readonly agentSilentAfter: number;
}

/** A sentence where agents would count as silent between two renewals of their leases. */
export function heartbeatFaults(
  { heartbeat, agentSilentAfter }: CheckedHeartbeat,
): readonly string[] {
  if (agentSilentAfter >= agentLeaseMs(heartbeat)) return [];
  return [
    `controller.agentSilentAfter is ${agentSilentAfter / 1000}s and agent.heartbeat is ` +
    `${heartbeat / 1000}s: make it ${agentLeaseMs(heartbeat) / 1000}s at least, two heartbeats`,
  ];
}
