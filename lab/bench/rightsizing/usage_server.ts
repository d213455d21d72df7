/**
 * The stand-in of a Prometheus, a process of its own: what it costs is not counted as the controller's.
 * It answers the two queries of rightsizing, with usage for every time: numbers from a hash, so that
 * nothing need be kept.
 *
 * @module
 */

/** How many of each there are. */
export type ClusterSize = Readonly<Record<"workloads" | "pods" | "containers", number>>;

const WORKLOADS_A_NAMESPACE = 50;
const SAFE = "bcdfghjklm";

/** Names of a workload, a Deployment: its namespace, itself, and its ReplicaSet. */
export function workloadNames(workload: number): Record<"namespace" | "name" | "set", string> {
  const name = `app-${workload}`;
  const namespace = `team-${Math.floor(workload / WORKLOADS_A_NAMESPACE)}`;
  return { namespace, name, set: `${name}-5d9c7f6b8` };
}

/** Name of a ReplicaSet's pod, as Kubernetes makes them: five characters without vowels at the end. */
export function podName(set: string, pod: number): string {
  const random = String(pod).padStart(5, "0").replace(/\d/g, (digit) => SAFE[Number(digit)] ?? "");
  return `${set}-${random}`;
}

/** Name of a container. */
export function containerName(container: number): string {
  return `part-${container}`;
}

/** Between two scrapes, ms. */
const SCRAPE_MS = 30_000;

/**
 * Usage of the series at a time: 0.025 to 1.5 cores, or 51 to 512 MiB in bytes, by container, with a part
 * that moves with each scrape.
 */
function valueAt(series: number, { isCPU, atMs }: { isCPU: boolean; atMs: number }): number {
  const [level, noise] = [hash(series, -1), hash(series, Math.floor(atMs / SCRAPE_MS))];
  return isCPU
    ? (0.05 + 0.95 * level) * (0.5 + noise)
    : Math.round(2 ** 20 * (64 + 448 * level) * (0.8 + 0.2 * noise));
}

/** 0 to 1, by the finalizer of MurmurHash3 (Austin Appleby, in the public domain). */
function hash(seed: number, scrape: number): number {
  let bits = Math.imul(seed, 0x9e3779b1) ^ scrape;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return ((bits ^ (bits >>> 16)) >>> 0) / 2 ** 32;
}

const QUERY =
  /^max by \(pod,container\) \((rate\()?\w+\{namespace=(".*"),pod=~(".*"),container=~(".*")\}/;

/** Answers `GET /api/v1/query_range`; undefined for another query than those of rightsizing. */
function rangeAnswer(parameters: URLSearchParams, size: ClusterSize): string | undefined {
  const [, rate, ...texts] = QUERY.exec(parameters.get("query") ?? "") ?? [];
  const [startMs = NaN, endMs = NaN, stepMs = NaN] = ["start", "end", "step"].map((name) =>
    Math.round(1000 * Number(parameters.get(name)))
  );
  const [namespace, pods, containers] = texts.map((text) =>
    new RegExp(`^(?:${JSON.parse(text)})$`)
  );
  if (namespace === undefined || pods === undefined || !containers || !(stepMs > 0)) {
    return undefined;
  }
  const result: string[] = [];
  for (let workload = 0; workload < size.workloads; workload++) {
    const names = workloadNames(workload);
    for (let pod = 0; namespace.test(names.namespace) && pod < size.pods; pod++) {
      const name = podName(names.set, pod);
      for (let container = 0; pods.test(name) && container < size.containers; container++) {
        const metric = { container: containerName(container), pod: name };
        if (!containers.test(metric.container)) continue;
        const series = (workload * 64 + container) * 1024 + pod;
        const values: string[] = [];
        for (let atMs = startMs; atMs <= endMs; atMs += stepMs) {
          values.push(`[${atMs / 1000},"${valueAt(series, { isCPU: rate !== undefined, atMs })}"]`);
        }
        result.push(`{"metric":${JSON.stringify(metric)},"values":[${values.join(",")}]}`);
      }
    }
  }
  return `{"status":"success","data":{"resultType":"matrix","result":[${result.join(",")}]}}`;
}

/** The running stand-in. */
export interface UsageServer extends AsyncDisposable {
  readonly url: string;
  /** Counts of its work so far. */
  stats(): Promise<Readonly<Record<"queries" | "refused", number>>>;
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
  const served = { queries: 0, refused: 0 };
  const onListen = ({ port }: { readonly port: number }): void => console.log(port);
  Deno.serve({ hostname: "127.0.0.1", port: 0, onListen }, (request) => {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/stats") return Response.json(served);
    const body = rangeAnswer(searchParams, size);
    served.queries++;
    if (body === undefined) served.refused++;
    return new Response(body ?? '{"status":"error","errorType":"bad_data","error":"unknown"}', {
      status: body === undefined ? 400 : 200,
      headers: { "content-type": "application/json" },
    });
  });
  for await (const _ of Deno.stdin.readable);
  Deno.exit();
}

if (import.meta.main) await serve(JSON.parse(Deno.args[0] ?? ""));
