/**
 * What the scene's services have to do: some steady, some in bursts, one in waves.
 *
 * @module
 */
import { type Random, seededRandom } from "../../../shared/random.ts";
import { readRequestLog, type RequestLog } from "../../simulation/oracle/request_log.ts";
import { createWorkload } from "../../simulation/workload.ts";
import { NEVER_READY, OPTED_OUT, type Performer, SCALED } from "./crowd.ts";

/** Millicores wanted in each second. */
export type Level = (second: number) => number;

/** Which stretch of load. */
export interface CrowdLoadOptions {
  readonly seed: number;
  readonly seconds: number;
}

/** Mean CPU time of a request, ms. */
const COST_MS = 8;
/** Apart from each other: the seeds of runs, of performers, of bursts. */
const RUN_STEP = 1009;
const BURSTS_STEP = 31;

/** The waves of the scaled service: to the autoscaler one replica's worth, then four's. */
const WAVE = { low: 30, high: 150, everyS: 200, fromS: 10, untilS: 110 } as const;
/** All workers together, in the midst of a wave: more than their quota has left. */
const RUSH = { level: 100, everyS: 120, fromS: 30, untilS: 42 } as const;

/** Millicores wanted by a performer, alike for the workers but for the seconds of their own bursts. */
export function levelOf(
  { name, member }: Performer,
  { random, seconds }: { readonly random: Random; readonly seconds: number },
): Level {
  switch (member.name) {
    case SCALED:
      return (second) => within(second, WAVE) ? WAVE.high : WAVE.low;
    case "worker": {
      const own = bursts(random, { low: 10, high: 140, everyS: 60, lastS: 8, seconds });
      return (second) => within(second, RUSH) ? RUSH.level : own(second);
    }
    case OPTED_OUT:
      return () => 120;
    // It asks for more than it has, then for next to nothing: a market that forgot its state would
    // lower it again and again.
    case NEVER_READY:
      return (second) => second % 60 < 15 ? 240 : 10;
    case "report":
      return bursts(random, { low: 30, high: 240, everyS: 45, lastS: 8, seconds });
    case "cart":
      return () => 50;
    default:
      throw new RangeError(`Cannot make a load: nothing is known of ${name}`);
  }
}

/** The requests of each performer, the same for one seed. */
export function crowdLoad(
  performers: readonly Performer[],
  { seed, seconds }: CrowdLoadOptions,
): ReadonlyMap<string, RequestLog> {
  return new Map(performers.map((performer, index) => {
    const own = seed * RUN_STEP + index;
    const level = levelOf(performer, { random: seededRandom(own * BURSTS_STEP), seconds });
    const { name } = performer;
    const values = Float64Array.from({ length: seconds }, (_, second) => level(second) / 1000);
    const workload = createWorkload(
      { name, unit: "cores", stepS: 1, values },
      { random: seededRandom(own), costMs: COST_MS },
    );
    return [name, readRequestLog(workload, 1000 * seconds)];
  }));
}

function within(
  second: number,
  { everyS, fromS, untilS }: {
    readonly everyS: number;
    readonly fromS: number;
    readonly untilS: number;
  },
): boolean {
  const phase = second % everyS;
  return phase >= fromS && phase < untilS;
}

interface BurstShape {
  readonly low: number;
  readonly high: number;
  /** From the end of one to the begin of the next in the mean; drawn from half to 1.5 times it. */
  readonly everyS: number;
  readonly lastS: number;
  readonly seconds: number;
}

function bursts(random: Random, { low, high, everyS, lastS, seconds }: BurstShape): Level {
  const levels = new Float64Array(seconds).fill(low);
  for (let at = 0;;) {
    at += Math.round((0.5 + random.next()) * everyS);
    if (at >= seconds) break;
    levels.fill(high, at, at + lastS);
    at += lastS;
  }
  return (second) => levels[second] ?? low;
}
