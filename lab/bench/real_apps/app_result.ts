/**
 * The result of a run, kept in a file as soon as it ends.
 *
 * @module
 */
import { dirname } from "node:path";

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

/** An app in one phase. */
export interface AppFigures {
  readonly requests: number;
  readonly failed: number;
  /** Answered, but later than 1 s. */
  readonly late: number;
  /** Of all requests; a failed one counts with the time after which the client gives up. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** P99 of the requests outside of the app's own turns. */
  readonly quietP99Ms: number;
}

/** One run. */
export interface AppResult {
  readonly algorithm: AppAlgorithm;
  readonly seed: number;
  readonly minutes: number;
  readonly kernel: string;
  readonly versions: Readonly<Record<string, string>>;
  /** Mean millicores of the neighbour in its half. */
  readonly neighbourUsed: number;
  readonly apps: readonly {
    readonly name: string;
    readonly phases: Readonly<Record<Phase, AppFigures>>;
  }[];
}

/** The file of a result. */
export function resultFile(
  folder: string,
  { algorithm, seed, minutes }: Pick<AppResult, "algorithm" | "seed" | "minutes">,
): string {
  return `${folder}/${algorithm}-seed${seed}-${minutes}min.json`;
}

/** Keeps a value as JSON, and makes the folder for it. */
export async function keep(file: string, value: object): Promise<void> {
  await Deno.mkdir(dirname(file), { recursive: true });
  await Deno.writeTextFile(file, `${JSON.stringify(value)}\n`);
}

/** Reads what was kept; undefined when there is none. */
export async function readKept<T>(file: string): Promise<T | undefined> {
  try {
    return JSON.parse(await Deno.readTextFile(file));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
