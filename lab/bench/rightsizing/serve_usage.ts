/**
 * The stand-in of a Prometheus, a process of its own: what it costs is not counted as the
 * controller's. Says `{"port":…}` on its first line, what it did at `/stats`, and ends with its
 * standard input.
 *
 * @module
 */
import type { ClusterSize } from "./known_usage.ts";
import { rangeAnswer } from "./range_answer.ts";

/** What it has done so far. */
export interface ServedUsage {
  readonly queries: number;
  readonly refused: number;
  readonly points: number;
  readonly bytes: number;
}

if (import.meta.main) {
  const size: ClusterSize = JSON.parse(Deno.args[0] ?? "");
  const served = { queries: 0, refused: 0, points: 0, bytes: 0 };
  Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    onListen: ({ port }) => console.log(JSON.stringify({ port })),
  }, (request) => {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/stats") return Response.json(served satisfies ServedUsage);
    if (pathname !== "/api/v1/query_range") return new Response("not found", { status: 404 });
    const { status, body, points } = rangeAnswer(searchParams, size);
    served.queries++;
    if (status !== 200) served.refused++;
    served.points += points;
    served.bytes += body.length;
    return new Response(body, { status, headers: { "content-type": "application/json" } });
  });
  for await (const _ of Deno.stdin.readable);
  Deno.exit();
}
