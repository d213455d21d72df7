/**
 * Results of algorithms, each in a file as soon as its run ends, so that one can be played again.
 *
 * @module
 */
import { z } from "zod";
import { keepResult, readKept } from "../kept_result.ts";
import { ALGORITHMS } from "./algorithms.ts";

const figures = z.strictObject({
  reactionMsMedian: z.number().optional(),
  reactionMsP95: z.number().optional(),
  bursts: z.number(),
  burstsMet: z.number(),
  burstsMissed: z.number(),
  throttledMsPerS: z.number(),
  changesPerPodMinute: z.number(),
  p50Ms: z.number(),
  p99Ms: z.number(),
  completed: z.number(),
  coresAllocated: z.number(),
  coresUsed: z.number(),
});

const service = z.strictObject({
  name: z.string(),
  request: z.number(),
  originalLimit: z.number(),
  meanLimit: z.number(),
  usedMsPerS: z.number(),
  /** The combined figure of both levels; then the kernel's count of each. */
  throttledMsPerS: z.number(),
  podLevelMsPerS: z.number(),
  containerLevelMsPerS: z.number(),
  /** Time of threads with work that did not run, by the requests alone: throttled, or no CPU was free. */
  standingMsPerS: z.number(),
  mostReplicas: z.number(),
  requests: z.number(),
  completed: z.number(),
  p50Ms: z.number(),
  p99Ms: z.number(),
});

const schema = z.strictObject({
  algorithm: z.enum(ALGORITHMS),
  seed: z.number(),
  minutes: z.number(),
  /** Mean demand of all pods together. */
  load: z.number(),
  cores: z.number(),
  /** When it ended. */
  at: z.string(),
  kernel: z.string(),
  /** CPUs that all other programs of the machine used meanwhile, this one and the cluster's too. */
  othersCores: z.number(),
  figures,
  services: z.array(service),
  changes: z.array(
    z.strictObject({ atS: z.number(), pod: z.string(), from: z.number(), to: z.number() }),
  ),
});

/** One algorithm on the real node. CPU in millicores where nothing else is said. */
export type AlgorithmResult = z.infer<typeof schema>;

/** One service of a result. */
export type ServiceResult = z.infer<typeof service>;

/** The key of a result. */
export interface ResultKey
  extends Pick<AlgorithmResult, "algorithm" | "seed" | "minutes" | "load"> {
  readonly folder: string;
}

function fileOf({ folder, algorithm, seed, minutes, load }: ResultKey): string {
  return `${folder}/${algorithm}-seed${seed}-${load}m-${minutes}min.json`;
}

/** Keeps a result; returns the file's path. */
export async function writeResult(folder: string, result: AlgorithmResult): Promise<string> {
  const file = fileOf({ folder, ...result });
  await keepResult(file, result);
  return file;
}

/** Reads a result; undefined when there is none. Throws a `SyntaxError` for another file. */
export function readResult(key: ResultKey): Promise<AlgorithmResult | undefined> {
  return readKept(fileOf(key), schema);
}
