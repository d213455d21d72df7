/**
 * Starts the stand-in of a Prometheus, and ends it.
 *
 * @module
 */
import type { ClusterSize } from "./known_usage.ts";
import type { ServedUsage } from "./serve_usage.ts";

/** The running stand-in. */
export interface UsageServer extends AsyncDisposable {
  readonly url: string;
  stats(): Promise<ServedUsage>;
}

/** Starts it. Throws an `Error` when it does not say where it listens. */
export async function startUsageServer(size: ClusterSize): Promise<UsageServer> {
  const script = new URL("./serve_usage.ts", import.meta.url).pathname;
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--allow-net=127.0.0.1", script, JSON.stringify(size)],
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const output = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const { value = "" } = await output.read();
  const port = /"port":(\d+)/.exec(value)?.[1];
  if (port === undefined) {
    await child.status;
    throw new Error(`Cannot start the stand-in of Prometheus: it said ${JSON.stringify(value)}`);
  }
  const url = `http://127.0.0.1:${port}`;
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
