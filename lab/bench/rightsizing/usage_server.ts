/**
 * The stand-in of a Prometheus, a process of its own: what it costs is not counted as the controller's.
 * It answers the two queries of rightsizing, with usage for every time: numbers from a hash, so that
 * nothing need be kept.
 *
 * @module
 */
import type { ResourceName } from "../../../shared/api/pod.ts";

/** How many of each there are. */
export interface ClusterSize {
  readonly workloads: number;
  readonly pods: number;
  readonly containers: number;
}

/** One container of one pod, by its numbers. */
export interface SeriesPlace {
  readonly workload: number;
  readonly pod: number;
  readonly container: number;
}

/** Between two scrapes, ms. */
const SCRAPE_MS = 30_000;
const WORKLOADS_A_NAMESPACE = 50;
/** The template's hash in pods' names. */
const TEMPLATE_HASH = "5d9c7f6b8";
const SAFE = "bcdfghjklm";
const MEBIBYTE = 2 ** 20;

/** Namespace of a workload. */
export function namespaceOf(workload: number): string {
  return `team-${Math.floor(workload / WORKLOADS_A_NAMESPACE)}`;
}

/** Name of a workload, a Deployment. */
export function workloadName(workload: number): string {
  return `app-${workload}`;
}

/** Name of its ReplicaSet. */
export function replicaSetName(workload: number): string {
  return `${workloadName(workload)}-${TEMPLATE_HASH}`;
}

/** Name of a pod, as Kubernetes makes them: five characters without vowels at the end. */
export function podName({ workload, pod }: Pick<SeriesPlace, "workload" | "pod">): string {
  const random = String(pod).padStart(5, "0").replace(/\d/g, (digit) => SAFE[Number(digit)] ?? "");
  return `${replicaSetName(workload)}-${random}`;
}

/** Name of a container. */
export function containerName(container: number): string {
  return `part-${container}`;
}

/**
 * The value that Prometheus has for the series at a time: 0.025 to 1.5 cores, or 51 to 512 MiB in
 * bytes, by container, with a part that moves with each scrape.
 */
export function valueAt(
  place: SeriesPlace,
  { resource, atMs }: { readonly resource: ResourceName; readonly atMs: number },
): number {
  const seed = (place.workload * 64 + place.container) * 1024 + place.pod;
  const [level, noise] = [hash(seed, -1), hash(seed, Math.floor(atMs / SCRAPE_MS))];
  return resource === "cpu"
    ? (0.05 + 0.95 * level) * (0.5 + noise)
    : Math.round(MEBIBYTE * (64 + 448 * level) * (0.8 + 0.2 * noise));
}

/** 0 to 1, by the finalizer of MurmurHash3 (Austin Appleby, in the public domain). */
function hash(seed: number, scrape: number): number {
  let bits = Math.imul(seed, 0x9e3779b1) ^ scrape;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return ((bits ^ (bits >>> 16)) >>> 0) / 2 ** 32;
}

/** An answer by HTTP. */
export interface RangeAnswer {
  readonly status: 200 | 400;
  readonly body: string;
}

/** Points of one series that Prometheus answers with at most. */
const MOST_POINTS = 11_000;

const QUERIES: Readonly<Record<ResourceName, RegExp>> = {
  cpu: /^max by \(pod,container\) \(rate\(container_cpu_usage_seconds_total\{(.*)\}\[2m\]\)\)$/,
  memory: /^max by \(pod,container\) \(container_memory_working_set_bytes\{(.*)\}\)$/,
};
const TERM = /(\w+)(=~?)("(?:[^"\\]|\\.)*")(?:,|$)/gy;

/** Answers `GET /api/v1/query_range`; another query than those two is refused as bad. */
export function rangeAnswer(parameters: URLSearchParams, size: ClusterSize): RangeAnswer {
  const [startMs = NaN, endMs = NaN, stepMs = NaN] = ["start", "end", "step"].map((name) =>
    Math.round(1000 * Number(parameters.get(name) ?? NaN))
  );
  const query = parameters.get("query") ?? "";
  const found = (["cpu", "memory"] as const).flatMap((resource) => {
    const selector = QUERIES[resource].exec(query)?.[1];
    return selector === undefined ? [] : [{ resource, selector }];
  })[0];
  if (found === undefined) return badData(`unknown query: ${query}`);
  if (!(stepMs > 0 && startMs <= endMs)) return badData("no moments between start and end");
  if ((endMs - startMs) / stepMs > MOST_POINTS) {
    return badData("exceeded maximum resolution of 11,000 points per timeseries");
  }
  const result = selectedPlaces(found.selector, size).map((place) => {
    const values: string[] = [];
    for (let atMs = startMs; atMs <= endMs; atMs += stepMs) {
      values.push(`[${atMs / 1000},"${valueAt(place, { resource: found.resource, atMs })}"]`);
    }
    const metric = { container: containerName(place.container), pod: podName(place) };
    return `{"metric":${JSON.stringify(metric)},"values":[${values.join(",")}]}`;
  });
  const data = `{"resultType":"matrix","result":[${result.join(",")}]}`;
  return { status: 200, body: `{"status":"success","data":${data}}` };
}

function badData(error: string): RangeAnswer {
  const body = JSON.stringify({ status: "error", errorType: "bad_data", error });
  return { status: 400, body };
}

/** The series that match all terms of the selector. */
function selectedPlaces(selector: string, size: ClusterSize): readonly SeriesPlace[] {
  const terms = Array.from(selector.matchAll(TERM), ([, label = "", operator, text = '""']) => {
    const value: string = JSON.parse(text);
    const pattern = new RegExp(`^(?:${value})$`);
    const holds = (own: string): boolean => operator === "=" ? own === value : pattern.test(own);
    return { label, holds };
  });
  const holds = (label: string, own: string): boolean =>
    terms.every((term) => term.label !== label || term.holds(own));
  const containers = Array.from({ length: size.containers }, (_, index) => index)
    .filter((container) => holds("container", containerName(container)));
  const places: SeriesPlace[] = [];
  for (let workload = 0; workload < size.workloads; workload++) {
    if (!holds("namespace", namespaceOf(workload))) continue;
    for (let pod = 0; pod < size.pods; pod++) {
      if (!holds("pod", podName({ workload, pod }))) continue;
      for (const container of containers) places.push({ workload, pod, container });
    }
  }
  return places;
}

/** Counts of the server's work so far. */
export interface ServedUsage {
  readonly queries: number;
  readonly refused: number;
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
  const served = { queries: 0, refused: 0 };
  Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    onListen: ({ port }) => console.log(port),
  }, (request) => {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/stats") return Response.json(served satisfies ServedUsage);
    const { status, body } = rangeAnswer(searchParams, size);
    served.queries++;
    if (status !== 200) served.refused++;
    return new Response(body, { status, headers: { "content-type": "application/json" } });
  });
  for await (const _ of Deno.stdin.readable);
  Deno.exit();
}

if (import.meta.main) await serve(JSON.parse(Deno.args[0] ?? ""));
