/**
 * CPU that equal services and a neighbour get on a node where it is scarce.
 *
 * @module
 */
import { jainIndex } from "../../simulation/scores.ts";

/** One look: ms since the neighbour began, CPU time in ms since each cgroup's start. */
export interface NeighbourLook {
  readonly at: number;
  readonly services: readonly number[];
  readonly neighbour: number;
  /** The neighbour's quota, millicores. */
  readonly quota: number;
}

/** Five seconds of what was seen. Millicores. */
export interface FairWindow {
  /** Seconds since the neighbour began. */
  readonly fromS: number;
  readonly services: readonly number[];
  readonly neighbour: number;
  /** Jain's index of what the services got. */
  readonly jain: number;
}

/** Figures of the neighbour and of the services beside it. */
export interface NeighbourFigures {
  /** Windows that follow one another, from when the neighbour began. */
  readonly windows: readonly FairWindow[];
  /** Jain's index of what the services got in all from 5 s after the neighbour began. */
  readonly jain: number;
  /** When the neighbour's quota was changed last, s; null where it stayed at its ceiling. */
  readonly restsAfterS: number | null;
  /** The quota in the end, millicores. */
  readonly quota: number;
}

const WINDOW_MS = 5000;
/** Sums up looks in order of time, which begin before the neighbour did. */
export function neighbourFigures(looks: readonly NeighbourLook[]): NeighbourFigures {
  const end = looks.at(-1)?.at ?? 0;
  const windows: FairWindow[] = [];
  for (let from = 0; from + WINDOW_MS <= end; from += WINDOW_MS) {
    windows.push(usageBetween(looks, { from, to: from + WINDOW_MS }));
  }
  const quota = looks.at(-1)?.quota ?? NaN;
  const changed = looks.findLastIndex(({ quota: before }) => before !== quota);
  return {
    windows,
    jain: usageBetween(looks, { from: WINDOW_MS, to: end }).jain,
    restsAfterS: changed < 0 ? null : (looks[changed + 1]?.at ?? 0) / 1000,
    quota,
  };
}

function usageBetween(
  looks: readonly NeighbourLook[],
  { from, to }: { readonly from: number; readonly to: number },
): FairWindow {
  const begin = looks.find(({ at }) => at >= from);
  const last = looks.findLast(({ at }) => at <= to);
  if (begin === undefined || last === undefined || last.at <= begin.at) {
    throw new RangeError(`Cannot sum up usage from ${from} to ${to} ms: there are too few looks`);
  }
  const rate = (before: number, after: number): number =>
    1000 * (after - before) / (last.at - begin.at);
  const services = last.services.map((used, i) => rate(begin.services[i] ?? 0, used));
  return {
    fromS: from / 1000,
    services,
    neighbour: rate(begin.neighbour, last.neighbour),
    jain: jainIndex(services),
  };
}

/** CPU that the agent used, and the delay of its looks. */
export interface AgentFigures {
  /** CPU used / time, millicores. */
  readonly millicores: number;
  /** Ninety-nine of a hundred looks came at most this late, ms: the bound of a histogram's bucket. */
  readonly lateP99Ms: number;
}

/** A stretch of time with nothing to do, or with a neighbour. */
export interface Stretch {
  /** That the API server was asked for: of all pods, and the most of any. */
  readonly resizes: Readonly<Record<"seconds" | "all" | "mostOfOnePod", number>>;
  readonly agent: AgentFigures;
}

/** The output of the benchmark. */
export interface NeighbourReport {
  readonly scene: string;
  readonly quiet: Stretch;
  readonly onset: Stretch & NeighbourFigures;
}

/** The report for people. */
export function neighbourTable({ scene, quiet, onset }: NeighbourReport): string {
  const stretch = (name: string, { resizes, agent }: Stretch): string =>
    `${name.padEnd(7)} ${resizes.all} resizes in ${resizes.seconds.toFixed(0)} s, at most ` +
    `${resizes.mostOfOnePod} of a pod; agent ${agent.millicores.toFixed(1)}m, ` +
    `P99 late by at most ${agent.lateP99Ms} ms`;
  const cell = (value: number): string => value.toFixed(0).padStart(6);
  const { windows, jain, restsAfterS, quota } = onset;
  return [
    scene,
    stretch("quiet", quiet),
    stretch("onset", onset),
    "     from   Jain  neighbour, services (m)",
    ...windows.map(({ fromS, jain, services, neighbour }) =>
      `${fromS.toFixed(0).padStart(7)} s ${jain.toFixed(4)} ${cell(neighbour)} ${
        services.map(cell).join("")
      }`
    ),
    `Jain's index from 5 s on ${jain.toFixed(5)}`,
    `neighbour's quota ${quota.toFixed(0)}m ` +
    (restsAfterS === null ? "all the time" : `from ${restsAfterS.toFixed(1)} s on`),
  ].join("\n");
}
