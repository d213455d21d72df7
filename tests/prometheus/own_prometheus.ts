/**
 * A real Prometheus of a test's own (a process with a folder of its own, gone when the test ends), and
 * metrics for it to collect.
 *
 * @module
 */
import { outputOf } from "../cluster/harness/shell.ts";
import { until } from "../cluster/scene/until.ts";

interface OwnPrometheusOptions {
  /** Address and port to listen on. @default {a free port of the loopback} */
  readonly listen?: string;
  /** Address and port that it collects metrics from, path `/metrics`. */
  readonly target: string;
  /** More of its entry in `scrape_configs`, for instance another path. @default {{}} */
  readonly job?: Readonly<Record<string, unknown>>;
  /** Samples from before it began, as OpenMetrics text with times. @default {"", nothing} */
  readonly history?: string;
}

/** A process that answers. */
export interface OwnPrometheus extends AsyncDisposable {
  /** For instance `http://127.0.0.1:9090`. */
  readonly url: string;
  /** Ends the process; a second time it does nothing. */
  stop(): Promise<void>;
}

const HOST = "127.0.0.1";
/** Debian's package puts it there; another place can be given. */
const PROGRAM = Deno.env.get("PROMETHEUS") ?? "/usr/bin/prometheus";
const TOOL = PROGRAM.replace(/[^/]*$/, "promtool");
const MISSING = `${PROGRAM} does not exist (package prometheus, or PROMETHEUS)`;
/** Short, so that tests need not wait. */
const SCRAPE_INTERVAL = "250ms";

/**
 * Whether tests that need it are to be left out: it is not there and REQUIRE_PROMETHEUS is not `1`.
 * Says so on the console, so that an ignored test does not look like a passed one.
 */
export function withoutPrometheus(): boolean {
  if (Deno.env.get("REQUIRE_PROMETHEUS") === "1" || hasProgram()) return false;
  console.warn(`Tests with Prometheus are ignored: ${MISSING}`);
  return true;
}

function hasProgram(): boolean {
  try {
    return Deno.statSync(PROGRAM).isFile;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    return false;
  }
}

/** Starts one and waits until it answers and has collected once. Throws where there is none. */
export async function startPrometheus(
  { listen = freeAddress(), target, job = {}, history = "" }: OwnPrometheusOptions,
): Promise<OwnPrometheus> {
  if (!hasProgram()) throw new Error(`Cannot start Prometheus: ${MISSING}`);
  const folder = await Deno.makeTempDir({ prefix: "coallocator-prometheus-" });
  const config = {
    global: { scrape_interval: SCRAPE_INTERVAL, scrape_timeout: SCRAPE_INTERVAL },
    scrape_configs: [{ job_name: "own", static_configs: [{ targets: [target] }], ...job }],
  };
  // JSON is YAML.
  await Deno.writeTextFile(`${folder}/prometheus.yml`, JSON.stringify(config));
  if (history !== "") await backfill(folder, history);
  const child = new Deno.Command(PROGRAM, {
    args: [
      `--config.file=${folder}/prometheus.yml`,
      `--storage.tsdb.path=${folder}/data`,
      `--web.listen-address=${listen}`,
      "--log.level=warn",
    ],
    env: { GOMAXPROCS: "1" },
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const log = new Response(child.stderr).text();
  let running = true;
  const ended = child.status.then(() => running = false);
  const stop = async (): Promise<void> => {
    if (running) child.kill("SIGTERM");
    await ended;
    await log;
  };
  const dispose = async (): Promise<void> => {
    await stop();
    await Deno.remove(folder, { recursive: true });
  };
  const url = `http://${listen}`;
  try {
    await until("Prometheus that collects", async () => {
      if (!running) throw new Error(`Cannot go on: Prometheus has ended: ${await log}`);
      const response = await fetch(`${url}/api/v1/query?query=up`);
      return /"1"\]/.test(await response.text()) || undefined;
    });
  } catch (error) {
    await dispose();
    throw error;
  }
  return { url, stop, [Symbol.asyncDispose]: dispose };
}

async function backfill(folder: string, history: string): Promise<void> {
  const file = `${folder}/history.txt`;
  await Deno.writeTextFile(file, history);
  await promtool("tsdb", "create-blocks-from", "openmetrics", "--quiet", file, `${folder}/data`);
}

export async function promtool(...args: readonly string[]): Promise<void> {
  const { code, stdout, stderr } = await outputOf([TOOL, ...args]);
  if (code !== 0) throw new Error(`Cannot run promtool ${args[0]}: ${stdout}${stderr}`);
}

function freeAddress(): string {
  using listener = Deno.listen({ hostname: HOST, port: 0 });
  return `${HOST}:${listener.addr.port}`;
}

export function serveMetrics(text = ""): AsyncDisposable & { readonly address: string } {
  const headers = { "content-type": "text/plain; version=0.0.4" };
  const server = Deno.serve(
    { hostname: HOST, port: 0, onListen() {} },
    () => new Response(text, { headers }),
  );
  return {
    address: `${HOST}:${server.addr.port}`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}
