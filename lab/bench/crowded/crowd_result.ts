/**
 * What is kept of a run, in a file of its own as soon as it is over: so that runs can be made one at a
 * time.
 *
 * @module
 */
import { z } from "zod";
import { keepResult, readKept } from "../kept_result.ts";

/** With the product's market, or with it switched off. */
export const CROWD_ALGORITHMS = ["with", "without"] as const;

/** One of the two. */
export type CrowdAlgorithm = (typeof CROWD_ALGORITHMS)[number];

const tallies = z.array(z.strictObject({ what: z.string(), count: z.number() }));
const numbers = z.array(z.number());
const lowerings = z.array(
  z.strictObject({ atS: z.number(), from: z.number(), to: z.number() }),
);

const schema = z.strictObject({
  law: z.enum(CROWD_ALGORITHMS),
  seed: z.number(),
  seconds: z.number(),
  /** When it ended. */
  at: z.string(),
  kernel: z.string(),
  writes: z.strictObject({
    /** Resizes by what they came to, from the audit log; those of the set-up too. */
    byKind: tallies,
    /** All that were not accepted. Seconds after the first request, below 0 while setting up. */
    notAccepted: z.array(z.strictObject({
      atS: z.number(),
      user: z.string(),
      pod: z.string(),
      code: z.number(),
      kind: z.string(),
      message: z.string(),
    })),
    /** Resizes of the opted-out pod, whatever came of them. */
    ofOptedOut: z.number(),
    byCode: tallies,
    /** Writes of whatever a change of limits writes, by resource; absent in older results. */
    mutations: tallies.optional(),
    outcomes: tallies,
    held: tallies,
    lostControllers: z.number(),
    /** Events `CPULimitFailed`. */
    events: tallies,
  }),
  /** One entry a second. */
  quotas: z.array(z.strictObject({
    place: z.string(),
    limits: numbers,
    used: numbers,
    hard: numbers,
    usedRequests: numbers,
    hardRequests: numbers,
  })),
  objects: z.strictObject({
    /** How many were compared. */
    before: z.number(),
    after: z.number(),
    differences: z.array(z.string()),
    optedOutSame: z.boolean(),
  }),
  /** Where the limit of the pod that is never Ready fell: in its spec, and in the kernel. */
  neverReady: z.strictObject({ spec: lowerings, kernel: lowerings }),
  /** Reasons of bounds, each with how many pods had it; none while the market is off. */
  bounds: tallies.optional(),
  replicas: z.array(z.strictObject({ atS: z.number(), wanted: z.number(), ready: z.number() })),
  /** Events `FailedCreate`: pods that a quota had no room for. */
  notCreated: tallies,
  figures: z.strictObject({
    throttledMsPerS: z.number(),
    /** Resizes that were accepted, of all pods together. */
    changesPerMinute: z.number(),
    /** Sums over pods, means over time. */
    coresAllocated: z.number(),
    coresUsed: z.number(),
    /** CPUs that all other programs of the machine used, this one and the cluster's too. */
    othersCores: z.number(),
  }),
  performers: z.array(z.strictObject({
    name: z.string(),
    ownLimit: z.number(),
    meanLimit: z.number(),
    mostLimit: z.number(),
    usedMsPerS: z.number(),
    throttledMsPerS: z.number(),
    requests: z.number(),
    completed: z.number(),
    p50Ms: z.number(),
    p99Ms: z.number(),
  })),
});

/** One run. CPU in millicores where nothing else is said. */
export type CrowdResult = z.infer<typeof schema>;

/** Which result is meant. */
export interface CrowdKey extends Pick<CrowdResult, "law" | "seed" | "seconds"> {
  readonly folder: string;
}

function fileOf({ folder, law, seed, seconds }: CrowdKey): string {
  return `${folder}/${law}-seed${seed}-${seconds}s.json`;
}

/** Keeps a result; returns the file's path. */
export async function writeCrowdResult(folder: string, result: CrowdResult): Promise<string> {
  const file = fileOf({ folder, ...result });
  await keepResult(file, result);
  return file;
}

/** Reads a result; undefined when there is none. Throws a `SyntaxError` for another file. */
export function readCrowdResult(key: CrowdKey): Promise<CrowdResult | undefined> {
  return readKept(fileOf(key), schema);
}
