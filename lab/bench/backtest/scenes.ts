/**
 * The histories that the back-test plays, and the factors by which limits follow requests.
 *
 * @module
 */
import type { ResourceName } from "../../../shared/api/pod.ts";
import type { PlayRulesOptions } from "../../simulation/rightsizing/play_rules.ts";
import {
  readUsage,
  scaledTo,
  type UsageHistory,
} from "../../simulation/rightsizing/usage_history.ts";
import { decodeText, readShippedText, SHIPPED_TRACES } from "../../simulation/trace_files.ts";

/** Histories under one set of limits. */
export interface BackTestScene {
  readonly title: string;
  readonly resource: ResourceName;
  readonly histories: readonly UsageHistory[];
  readonly limitFactor?: number;
}

/**
 * 95th percentile that the project's histories are scaled to: their units are not documented. Rules
 * that go by ratios don't care; the VPA's least recommendation and first bucket do.
 */
const P95: Readonly<Record<ResourceName, number>> = { cpu: 1000, memory: 2 ** 30 };
/** A policy's default for limits of memory. */
const MEMORY_LIMIT_FACTOR = 1.1;

/** The scenes of the project's own histories. */
export async function shippedScenes(): Promise<readonly BackTestScene[]> {
  const names = SHIPPED_TRACES.filter((name) => name.startsWith("crane"));
  const texts = await Promise.all(
    names.map(async (name) => ({ name, ...await readShippedText(name) })),
  );
  const histories = (resource: ResourceName): UsageHistory[] =>
    texts.map((text) => scaledTo(readUsage(text.text, { ...text, resource }), P95[resource]));
  return [...cpuScenes(histories("cpu")), ...memoryScenes(histories("memory"))];
}

/** The scenes of a user's file. Throws a `SyntaxError` that says what is wrong in it. */
export async function ownScenes(path: string, resource: ResourceName): Promise<BackTestScene[]> {
  const text = await decodeText(await Deno.readFile(path), path);
  const history = readUsage(text, { name: path, resource });
  return resource === "cpu" ? cpuScenes([history]) : memoryScenes([history]);
}

function cpuScenes(histories: readonly UsageHistory[]): BackTestScene[] {
  return [
    { title: "CPU, requests only: nothing is throttled", resource: "cpu", histories },
    {
      title: "CPU, limit = request: a rule sees no usage above it",
      resource: "cpu",
      histories,
      limitFactor: 1,
    },
  ];
}

function memoryScenes(histories: readonly UsageHistory[]): BackTestScene[] {
  return [{
    title: `Memory, limit = request × ${MEMORY_LIMIT_FACTOR}: more is killed`,
    resource: "memory",
    histories,
    limitFactor: MEMORY_LIMIT_FACTOR,
  }];
}

/** How a scene's rules are played. */
export function playOptions(
  { limitFactor }: BackTestScene,
  { intervalMinutes, warmUpHours }: {
    readonly intervalMinutes: number;
    readonly warmUpHours: number;
  },
): PlayRulesOptions {
  return {
    intervalMs: intervalMinutes * 60_000,
    warmUpMs: warmUpHours * 3_600_000,
    ...(limitFactor === undefined ? {} : { limitFactor }),
  };
}
