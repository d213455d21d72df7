/**
 * The report of the agent's benchmark.
 *
 * @module
 */
import type { AgentUse } from "./process.ts";

/** What one size of node needed. */
export interface AgentScene extends AgentUse {
  readonly pods: number;
  /** Of them, with a process that works. */
  readonly workingPods: number;
  /** Whether these are close to their limits, so that the agent looks more often than 4 times a second. */
  readonly nearLimit: boolean;
  /** Writes of allocations during the whole run: each pod's first clearing, and changes. */
  readonly writes: number;
  /** Whether the limits held; absent where none is set. */
  readonly withinLimits?: boolean;
}

/** All scenes, and under which conditions they ran. */
export interface AgentReport {
  /** How the agent was run. */
  readonly mode: string;
  readonly command: string;
  readonly cgroups: string;
  readonly api: string;
  readonly seconds: number;
  /** Seconds before the measurement: V8 compiles what runs once a second after minutes. */
  readonly warmUp: number;
  readonly limits: { readonly pods: number; readonly millicores: number; readonly rssMB: number };
  readonly scenes: readonly AgentScene[];
}

/** What is asked for: less than the memory that the agent requests, 134 MB. */
export const AGENT_LIMITS: AgentReport["limits"] = { pods: 110, millicores: 12, rssMB: 125 };

/** Whether a scene is within the limits; undefined where none are set: they hold for 4 looks a second. */
export function withinLimits(
  { pods, nearLimit, millicores, highestRSSMB }: AgentScene,
): boolean | undefined {
  if (pods !== AGENT_LIMITS.pods || nearLimit) return undefined;
  return millicores <= AGENT_LIMITS.millicores && highestRSSMB <= AGENT_LIMITS.rssMB;
}

/** The report as text. */
export function agentTable(
  { mode, cgroups, api, seconds, warmUp, limits, scenes }: AgentReport,
): string {
  const rows = [
    [
      "pods",
      "near limit",
      "CPU",
      "RSS",
      "highest",
      "looks/s",
      "look",
      "rounds/s",
      "round",
      "writes",
      "limits",
    ],
    ...scenes.map((scene) => [
      String(scene.pods),
      String(scene.nearLimit ? scene.workingPods : 0),
      `${scene.millicores.toFixed(1)}m`,
      `${scene.rssMB.toFixed(1)} MB`,
      `${scene.highestRSSMB.toFixed(1)} MB`,
      scene.looksPerSecond.toFixed(2),
      `${scene.lookMs.toFixed(2)} ms`,
      scene.roundsPerSecond.toFixed(2),
      `${scene.clearMs.toFixed(2)} ms`,
      String(scene.writes),
      scene.withinLimits === undefined ? "-" : scene.withinLimits ? "held" : "BROKEN",
    ]),
  ];
  const widths = rows[0]?.map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0))) ?? [];
  return [
    `Agent: ${mode}`,
    `Node: ${cgroups}`,
    `API: ${api}`,
    `${seconds} s a scene after ${warmUp} s; at ${limits.pods} pods at most ${limits.millicores}m and ` +
    `${limits.rssMB} MB at the highest`,
    "",
    ...rows.map((row) => row.map((cell, i) => cell.padStart(widths[i] ?? 0)).join("  ")),
  ].join("\n");
}
