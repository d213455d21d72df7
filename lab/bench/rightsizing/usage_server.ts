/**
 * The stand-in of a Prometheus, a process of its own: what it costs is not counted as the controller's.
 *
 * @module
 */
import type { ClusterSize } from "./known_usage.ts";
import { rangeAnswer } from "./range_answer.ts";

/** Counts of the server's work so far. */
export interface ServedUsage {
  readonly queries: number;
  readonly refused: number;
  readonly points: number;
}

/** The running stand-in. */
export interface UsageServer extends AsyncDisposable {
  readonly url: string;
  stats(): Promise<ServedUsage>;
}

/** Starts it in a process of its own. */
export async function startUsageServer(size: ClusterSize): Promise<UsageServer> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "--quiet", "--allow-net=127.0.0.1", import.meta.filename ?? ""],
      JSON.stringify(size),
    ],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const output = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const url = `http://127.0.0.1:${(await output.read()).value?.trim()}`;
  return {
    url,
    stats: async () => await (await fetch(`${url}/stats`)).json(),
    async [Symbol.asyncDispose]() {
      await child.stdin.close();
      await output.cancel();
      await child.status;
    },
  };
}

/** Says its port on its first line, what it did at `/stats`, and ends with its standard input. */
async function serve(size: ClusterSize): Promise<void> {
  const served = { queries: 0, refused: 0, points: 0 };
  Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    onListen: ({ port }) => console.log(port),
  }, (request) => {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/stats") return Response.json(served satisfies ServedUsage);
    const { status, body, points } = rangeAnswer(searchParams, size);
    served.queries++;
    if (status !== 200) served.refused++;
    served.points += points;
    return new Response(body, { status, headers: { "content-type": "application/json" } });
  });
  for await (const _ of Deno.stdin.readable);
  Deno.exit();
}

if (import.meta.main) await serve(JSON.parse(Deno.args[0] ?? ""));
