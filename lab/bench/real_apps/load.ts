/**
 * The load: vegeta, at a constant rate whatever becomes of earlier requests, with a second vegeta
 * for each burst; and webdis, which passes requests to redis on.
 *
 * @module
 */
import { run } from "../../../tests/cluster/harness/shell.ts";
import { pause, until } from "../../../tests/cluster/scene/until.ts";
import { libraryEnvironment } from "../../../tests/cluster/images/program_image.ts";
import { quantile } from "../../simulation/statistics.ts";
import { type AppFigures, LATE_MS } from "./app_result.ts";
import type { Programs } from "./programs.ts";

/** One request. */
export interface SentRequest {
  /** When it was to be sent, ms of the wall clock. */
  readonly atMs: number;
  /** From then until its answer or its failure, ms. */
  readonly latencyMs: number;
  readonly failed: boolean;
}

/** Requests at a constant rate. */
export interface Attack {
  readonly url: string;
  /** Per second. */
  readonly rate: number;
  /** ms of the wall clock; now or later. */
  readonly startMs: number;
  readonly seconds: number;
}

/** A request without an answer by then has failed. */
const TIMEOUT_S = 10;

/** Before all other programs of the machine: the load must be on time. */
const FIRST = ["nice", "-n", "-10"];

/**
 * Sends the requests; resolves when the last has its answer. Each has a connection of its own, so
 * that a Service spreads them over all replicas.
 */
export async function attack(
  { url, rate, startMs, seconds }: Attack,
  { vegeta }: Programs,
): Promise<SentRequest[]> {
  const file = await Deno.makeTempFile({ prefix: "attack-" });
  try {
    await pause(Math.max(0, startMs - Date.now()));
    const flags = [
      ...["-rate", `${rate}`, "-duration", `${seconds}s`, "-timeout", `${TIMEOUT_S}s`],
      // As long as there are workers enough, none waits for another's answer.
      ...["-keepalive=false", "-workers", "50", "-max-body", "0", "-output", file],
      // Said by hand, it is not undone here.
      ...["-header", "Accept-Encoding: gzip"],
    ];
    await run([...FIRST, vegeta, "attack", ...flags], { input: `GET ${url}\n` });
    return parseAttack(await run([vegeta, "encode", "--to", "csv", file]), { rate });
  } finally {
    await Deno.remove(file);
  }
}

/**
 * Reads vegeta's CSV. Its latency begins when a worker sends; that it sent late is added here: the
 * request number n was to be sent n intervals after the start, which is where the least late one has
 * it.
 */
export function parseAttack(csv: string, { rate }: { readonly rate: number }): SentRequest[] {
  const requests = csv.trim().split("\n").map((line) => {
    const cells = line.split(",");
    const [sentNs, code, latencyNs] = cells;
    const number = Number(cells.at(-4));
    // ns since 1970 are beyond what a double holds exactly: off by 0.3 µs at most.
    const sentMs = Number(sentNs) / 1e6;
    if (Number.isNaN(sentMs) || Number.isNaN(number)) {
      throw new SyntaxError(`Cannot read a request from ${JSON.stringify(line.slice(0, 60))}`);
    }
    const failed = !(Number(code) >= 200 && Number(code) < 300);
    return { sentMs, afterMs: 1000 * number / rate, latencyMs: Number(latencyNs) / 1e6, failed };
  });
  const startMs = Math.min(...requests.map(({ sentMs, afterMs }) => sentMs - afterMs));
  return requests.map(({ sentMs, afterMs, latencyMs, failed }) => ({
    atMs: startMs + afterMs,
    latencyMs: latencyMs + sentMs - startMs - afterMs,
    failed,
  }));
}

/** Sums up requests; `busy` says whether a moment lies in a turn of the app. */
export function requestFigures(
  sent: readonly SentRequest[],
  busy: (atMs: number) => boolean,
): AppFigures {
  const latency = ({ failed, latencyMs }: SentRequest): number =>
    failed ? Math.max(1000 * TIMEOUT_S, latencyMs) : latencyMs;
  const all = sent.map(latency);
  return {
    requests: sent.length,
    failed: sent.filter(({ failed }) => failed).length,
    late: sent.filter(({ failed, latencyMs }) => !failed && latencyMs > LATE_MS).length,
    p50Ms: quantile(all, 0.5),
    p99Ms: quantile(all, 0.99),
    quietP99Ms: quantile(sent.filter(({ atMs }) => !busy(atMs)).map(latency), 0.99),
  };
}

/** Fills the two sets that the requests to redis intersect. */
const REDIS_DATA = 'for i = 1, 22000 do redis.call("SADD", "even", "user:" .. 2 * i) ' +
  'redis.call("SADD", "third", "user:" .. 3 * i) end return 1';

/** Where webdis listens while it runs. */
export interface Webdis extends AsyncDisposable {
  readonly url: string;
}

/** Runs webdis before the redis at `address`, and gives redis its data. */
export async function runWebdis(address: string, { root }: Programs): Promise<Webdis> {
  const port = 7379;
  const config = await Deno.makeTempFile({ prefix: "webdis-", suffix: ".json" });
  const settings = {
    ...{ redis_host: address, redis_port: 6379, http_host: "127.0.0.1", http_port: port },
    ...{ threads: 2, pool_size: 10, daemonize: false, websockets: false, database: 0 },
    ...{ verbosity: 0, logfile: "/dev/null" },
  };
  await Deno.writeTextFile(config, JSON.stringify(settings));
  const [program = "", ...args] = [...FIRST, `${root}/usr/bin/webdis`, config];
  const child = new Deno.Command(program, { args, env: libraryEnvironment(root), stdin: "null" })
    .spawn();
  const url = `http://127.0.0.1:${port}`;
  const end = async (): Promise<void> => {
    child.kill("SIGTERM");
    await child.status;
    await Deno.remove(config);
  };
  try {
    await until("redis with its data", async () => {
      const answer = await fetch(`${url}/EVAL/${encodeURIComponent(REDIS_DATA)}/0`)
        .then((response) => response.json(), () => undefined);
      return answer?.EVAL === 1 ? true : undefined;
    });
  } catch (error) {
    await end();
    throw error;
  }
  return { url, [Symbol.asyncDispose]: end };
}
