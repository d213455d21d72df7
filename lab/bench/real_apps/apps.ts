/**
 * The programs that are measured: nginx, which compresses a page, redis, which intersects two sets,
 * and a service in Deno, which makes a report; and when each has a burst.
 *
 * @module
 */
import { seededRandom } from "../../../shared/random.ts";

/** One of them. */
export interface App {
  readonly name: "nginx" | "redis" | "deno";
  readonly port: number;
  /** The path of every request. */
  readonly path: string;
  /** Whether replicas can share the load. An HPA cannot split what redis holds. */
  readonly scales: boolean;
}

/** All of them, in the order of the tables. */
export const APPS: readonly App[] = [
  { name: "nginx", port: 8080, path: "/page.html", scales: true },
  { name: "redis", port: 6379, path: "/SINTERCARD/2/even/third", scales: false },
  { name: "deno", port: 8080, path: "/", scales: true },
];

/** A burst of one app. Seconds after the run's start. */
export interface Burst {
  readonly app: App["name"];
  readonly atS: number;
}

/** Length of a burst. */
export const BURST_S = 8;
/** Length of a turn: what the burst leaves of it lets queues drain. */
export const TURN_S = 15;
/** A burst begins within these first seconds of its turn. */
const LATEST_S = 2;

/**
 * Bursts of all apps in turn, as often as whole rounds fit into each half of the run. The seed draws
 * the order in each round and the moments, which are the same for each algorithm.
 */
export function burstTurns(
  { seed, minutes }: { readonly seed: number; readonly minutes: number },
): Burst[] {
  const random = seededRandom(seed);
  const halfS = 30 * minutes;
  const rounds = Math.floor(halfS / (APPS.length * TURN_S));
  return [0, halfS].flatMap((startS) =>
    Array.from(
      { length: rounds },
      (_, round) =>
        APPS.map(({ name }) => ({ name, draw: random.next() }))
          .toSorted((a, b) => a.draw - b.draw)
          .map(({ name }, turn) => ({
            app: name,
            atS: startS + (round * APPS.length + turn) * TURN_S + LATEST_S * random.next(),
          })),
    ).flat()
  );
}
