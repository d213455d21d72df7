/**
 * The setting of the agents' heartbeat.
 *
 * @module
 */
import type { Setting } from "./setting.ts";
import { durationKind } from "./setting_kinds.ts";

/** Its row in both programs' tables: agents act on it, and the controller checks its own against it. */
export const HEARTBEAT_ROW: Setting<number> = {
  key: "agent.heartbeat",
  flag: "--heartbeat",
  env: "MBCAS_HEARTBEAT",
  default: "60s",
  description: "Mean time between two renewals of an agent's lease, which lasts for two; half of " +
    "controller.agentSilentAfter at most",
  kind: durationKind({ leastMs: 5000, mostMs: 120_000 }),
};

/** How long the Lease of an agent with this heartbeat lasts, ms: one renewal may be missed. */
export function agentLeaseMs(heartbeatMs: number): number {
  return 2 * heartbeatMs;
}
