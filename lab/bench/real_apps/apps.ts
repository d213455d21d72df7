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
  /** What is asked for, again and again. */
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

/** Requests per second to each, outside of bursts: some 80m of CPU. */
export const RATE = 25;
/** Request of each app, millicores. */
export const REQUEST = 150;
/** The limit, millicores. */
export const LIMIT = 2 * REQUEST;
/** Request and limit of the neighbour, millicores. */
export const NEIGHBOUR = 500;

/** The label that names a replica's service. */
export const SERVICE_LABEL = "bench-service";
/** Name of the only container. */
export const CONTAINER = "app";

/** Fills the two sets that the requests to redis intersect. */
export const REDIS_DATA: string =
  'for i = 1, 22000 do redis.call("SADD", "even", "user:" .. 2 * i) ' +
  'redis.call("SADD", "third", "user:" .. 3 * i) end return 1';

/** The configuration of nginx; all that it writes is in /tmp. */
export const NGINX_CONFIG = `worker_processes 2;
daemon off;
error_log stderr error;
pid /tmp/nginx.pid;
events { worker_connections 4096; }
http {
  access_log off;
  client_body_temp_path /tmp/body;
  proxy_temp_path /tmp/proxy;
  fastcgi_temp_path /tmp/fastcgi;
  uwsgi_temp_path /tmp/uwsgi;
  scgi_temp_path /tmp/scgi;
  default_type text/html;
  gzip on;
  gzip_comp_level 6;
  server {
    listen 8080 backlog=4096;
    root /srv;
  }
}
`;

/** A page of some 250 kB, always the same, that compresses as tables do: to a sixth. */
export function nginxPage(): string {
  const rows = Array.from({ length: 3000 }, (_, row) => {
    const cells = [7919, 104_729, 1_299_709].map((prime) => `<td>${(row * prime) % 99_991}</td>`);
    return `<tr class="order"><td>order ${row}</td>${cells.join("")}</tr>`;
  });
  return `<!doctype html>\n<table>\n${rows.join("\n")}\n</table>\n`;
}

/** A burst of one app. Seconds after the run's start. */
export interface Burst {
  readonly app: App["name"];
  readonly atS: number;
}

/** Load in a burst, as a multiple of that outside of it. */
export const BURST_FACTOR = 5;
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
