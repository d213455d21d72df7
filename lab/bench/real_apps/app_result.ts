/**
 * The result of a run, kept in a file as soon as it ends.
 *
 * @module
 */
import { z } from "zod";
import { keepResult, readKept } from "../kept_result.ts";

/**
 * Limits of twice the request; no CPU limits; a HorizontalPodAutoscaler of one to four replicas for
 * what has no state, with limits as in the first; the product as shipped, likewise.
 */
export const APP_ALGORITHMS = ["fixed", "none", "hpa", "coallocator"] as const;

/** One of them. */
export type AppAlgorithm = (typeof APP_ALGORITHMS)[number];

/** The two halves of a run. */
export const PHASES = ["alone", "neighbour"] as const;

/** One of them. */
export type Phase = (typeof PHASES)[number];

const appFigures = z.strictObject({
  requests: z.number(),
  failed: z.number(),
  /** Answered, but later than 1 s. */
  late: z.number(),
  /** Of all requests; a failed one counts with the time after which the client gives up. */
  p50Ms: z.number(),
  p99Ms: z.number(),
  /** P99 of the requests outside of the app's own turns. */
  quietP99Ms: z.number(),
  throttledMsPerS: z.number(),
  /** Mean millicores. */
  used: z.number(),
});

const schema = z.strictObject({
  algorithm: z.enum(APP_ALGORITHMS),
  seed: z.number(),
  minutes: z.number(),
  /** When it ended. */
  at: z.string(),
  kernel: z.string(),
  versions: z.record(z.string(), z.string()),
  /** CPUs used by all programs of the machine. */
  busyCores: z.number(),
  /** CPUs used by the load and by this benchmark. */
  loadCores: z.number(),
  /** Mean millicores of the neighbour in its half. */
  neighbourUsed: z.number(),
  apps: z.array(z.strictObject({
    name: z.string(),
    mostReplicas: z.number(),
    phases: z.strictObject({ alone: appFigures, neighbour: appFigures }),
  })),
  /** Changes of limits in force, millicores over all replicas; the CPUs of the node for no limit. */
  changes: z.array(
    z.strictObject({ atS: z.number(), pod: z.string(), from: z.number(), to: z.number() }),
  ),
});

/** One run. */
export type AppResult = z.infer<typeof schema>;

/** An app in one phase. */
export type AppFigures = z.infer<typeof appFigures>;

/** Names of the figures. */
export const FIGURE_NAMES: readonly (keyof AppFigures)[] = appFigures.keyof().options;

/** The key of a result. */
export interface AppResultKey extends Pick<AppResult, "algorithm" | "seed" | "minutes"> {
  readonly folder: string;
}

function fileOf({ folder, algorithm, seed, minutes }: AppResultKey): string {
  return `${folder}/${algorithm}-seed${seed}-${minutes}min.json`;
}

/** Keeps a result; returns the file's path. */
export async function writeAppResult(folder: string, result: AppResult): Promise<string> {
  const file = fileOf({ folder, ...result });
  await keepResult(file, result);
  return file;
}

/** Reads a result; undefined when there is none. Throws a `SyntaxError` for another file. */
export function readAppResult(key: AppResultKey): Promise<AppResult | undefined> {
  return readKept(fileOf(key), schema);
}
