/**
 * A neighbour that eats all CPU beside equal services, on the node of `KUBECONFIG` that runs here
 * with as many idle pods as it takes: what each gets by its cgroup, how many limits are written in a
 * quiet stretch and at the onset, and whether the agent is on time.
 *
 * @module
 */
import { Command } from "commander";
import type { Pod } from "../../../shared/api/pod.ts";
import { ALLOW_OVERRIDES } from "../../../shared/api/market_keys.ts";
import { auditLog } from "../../../tests/cluster/harness/component.ts";
import { clusterInstance } from "../../../tests/cluster/scene/harness_access.ts";
import { appliedAllocation } from "../../../tests/cluster/scene/limits.ts";
import { type LoadPod, loadPod } from "../../../tests/cluster/scene/load_pod.ts";
import {
  cpuAccount,
  podDirectories,
  processOne,
  quotaOf,
} from "../../../tests/cluster/scene/node_cgroups.ts";
import { podsOf, productMetrics } from "../../../tests/cluster/scene/product.ts";
import { openRealNode, scratchNamespace } from "../../../tests/cluster/scene/real_node.ts";
import { pause, until } from "../../../tests/cluster/scene/until.ts";
import { markAudit, readAuditSince } from "../audit_log.ts";
import {
  type AgentFigures,
  neighbourFigures,
  type NeighbourLook,
  type NeighbourReport,
  neighbourTable,
  type Stretch,
} from "./report.ts";
import { benchFlags, wholeNumber } from "../bench.ts";

const { json, idle, priority, quiet } = benchFlags<
  Record<"idle" | "quiet", number> & { priority: string }
>(
  new Command("bench:neighbour")
    .description("A neighbour of four busy loops beside equal services. Needs root on the node.")
    .option("--idle <n>", "idle pods", wholeNumber, 106)
    .option("--priority <n>", "priority multiplier of the services", "1")
    .option("--quiet <seconds>", "time in which nothing happens", wholeNumber, 600),
);

/** The services are busy alone for this long, and then beside the neighbour, s. */
const LEAD = 10;
const ONSET = 60;
const SERVICES = 3;
const LOOK_MS = 100;
const AT_ONCE = 6;
const CPUS = navigator.hardwareConcurrency;
const log = (text: string): void => console.error(text);

using node = await openRealNode();
await using namespace = await scratchNamespace(node.connection, {
  labels: { [ALLOW_OVERRIDES]: "true" },
});

function idlePod(index: number): Omit<LoadPod, "namespace"> {
  return { name: `idle-${index}`, containers: [{ name: "load", request: "5m", limit: "20m" }] };
}

function service(index: number): Omit<LoadPod, "namespace"> {
  const burstSeconds = LEAD + ONSET;
  return {
    name: `service-${index}`,
    annotations: { "mbcas.io/priority-multiplier": priority },
    containers: [{ name: "load", request: "150m", limit: "300m", threads: CPUS, burstSeconds }],
  };
}

const NEIGHBOUR: Omit<LoadPod, "namespace"> = {
  name: "neighbour",
  containers: [{ name: "load", request: "500m", limit: "500m", threads: 4, burstSeconds: ONSET }],
};

/** Runs the pods, a few at once, and waits until all are at their ceilings. */
async function runPods(pods: readonly Omit<LoadPod, "namespace">[]): Promise<Pod[]> {
  const running: Pod[] = [];
  for (let i = 0; i < pods.length; i += AT_ONCE) {
    const some = pods.slice(i, i + AT_ONCE).map((pod) =>
      node.run(loadPod({ namespace: namespace.name, ...pod }), { timeoutMs: 180_000 })
    );
    running.push(...await Promise.all(some));
  }
  for (const pod of running) {
    const { status } = await appliedAllocation(node, pod);
    const ceiling = status?.bounds?.containers[0]?.ceiling ?? NaN;
    const limit = limitIn(pod);
    await until("limit at its ceiling", () => limit() === ceiling ? true : undefined, {
      timeoutMs: 60_000,
    });
  }
  return running;
}

function limitIn(pod: Pod): () => number {
  const { containers, version } = podDirectories(pod);
  return () => quotaOf(containers.get("load") ?? "", version) ?? Infinity;
}

interface AgentLook {
  readonly at: number;
  readonly usageMs: number;
  readonly metrics: ReadonlyMap<string, number>;
}

async function lookAtAgent(): Promise<AgentLook> {
  const [agent] = await podsOf(node, "mbcas-agent");
  if (agent === undefined) {
    throw new Error("Cannot look at the agent: the product is not installed");
  }
  const { usageMs } = cpuAccount(podDirectories(agent));
  return { at: performance.now(), usageMs, metrics: await productMetrics(node, "mbcas-agent") };
}

function agentFigures(start: AgentLook, end: AgentLook): AgentFigures {
  const ms = end.at - start.at;
  const growth = (series: string): number =>
    (end.metrics.get(series) ?? 0) - (start.metrics.get(series) ?? 0);
  const looks = growth("mbcas_sample_lateness_seconds_count");
  const bounds = [...end.metrics.keys()].flatMap((series) => {
    const [, bound] = /^mbcas_sample_lateness_seconds_bucket\{le="(.+)"\}$/.exec(series) ?? [];
    return bound !== undefined && growth(series) >= 0.99 * looks
      ? [bound === "+Inf" ? Infinity : 1000 * Number(bound)]
      : [];
  });
  const millicores = 1000 * (end.usageMs - start.usageMs) / ms;
  return { millicores, lateP99Ms: Math.min(Infinity, ...bounds) };
}

/** Begins to observe; the function returns what a stretch of time has cost since. */
async function observe(): Promise<() => Promise<Stretch>> {
  const mark = await markAudit(auditLog(clusterInstance()));
  const start = await lookAtAgent();
  return async () => {
    const end = await lookAtAgent();
    const answers = (await readAuditSince(mark)).filter((one) => one.namespace === namespace.name);
    const byPod = [...Map.groupBy(answers, ({ pod }) => pod).values()];
    const mostOfOnePod = Math.max(0, ...byPod.map(({ length }) => length));
    const resizes = { seconds: (end.at - start.at) / 1000, all: answers.length, mostOfOnePod };
    return { resizes, agent: agentFigures(start, end) };
  };
}

log(`making ${idle + SERVICES + 1} pods`);
const [neighbour, ...others] = await runPods([
  NEIGHBOUR,
  ...Array.from({ length: SERVICES }, (_, i) => service(i)),
  ...Array.from({ length: idle }, (_, i) => idlePod(i)),
]);
if (neighbour === undefined) throw new TypeError("Cannot go on: there is no neighbour");
const services = others.slice(0, SERVICES);

log(`${quiet} s of quiet`);
const quietEnds = await observe();
await pause(1000 * quiet);
const quietly = await quietEnds();

const begin = performance.now() + 1000 * LEAD;
const directories = services.map(podDirectories);
const [itsDirectories, quota] = [podDirectories(neighbour), limitIn(neighbour)];
const looks: NeighbourLook[] = [];
async function lookUntil(end: number): Promise<void> {
  while (performance.now() < end) {
    looks.push({
      at: performance.now() - begin,
      services: directories.map((one) => cpuAccount(one).usageMs),
      neighbour: cpuAccount(itsDirectories).usageMs,
      quota: quota(),
    });
    await pause(LOOK_MS);
  }
}
for (const pod of services) Deno.kill(processOne(pod, "load"), "SIGUSR1");
log(`${LEAD} s of services, ${ONSET} s of a neighbour`);
await lookUntil(begin);
const onsetEnds = await observe();
Deno.kill(processOne(neighbour, "load"), "SIGUSR1");
await lookUntil(begin + 1000 * ONSET);
const onsetStretch = await onsetEnds();
const report: NeighbourReport = {
  scene:
    `${SERVICES} services of priority ${priority}, a neighbour and ${idle} idle pods on ${CPUS} CPUs`,
  quiet: quietly,
  onset: { ...onsetStretch, ...neighbourFigures(looks) },
};
console.log(json ? JSON.stringify(report) : neighbourTable(report));
