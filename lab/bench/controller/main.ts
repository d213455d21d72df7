/**
 * Times the controller's enforcement against a bare loop of resize requests with the same
 * concurrency on the same server.
 *
 * The pods stand on a node that is an object only, so no kubelet takes part; what one would report
 * is written between the rounds. Needs `KUBECONFIG`, and a cluster without the product.
 *
 * @module
 */
import { Command } from "commander";
import { createNodeLink } from "../../../adapters/kube/writers/lease_writers.ts";
import { createPodResizer } from "../../../adapters/kube/writers/pod_writers.ts";
import { systemClock } from "../../../adapters/system_clock.ts";
import { resizePatch } from "../../../shared/resize/patch.ts";
import { quantile } from "../../simulation/statistics.ts";
import { createKubectl } from "../../../tests/cluster/kubectl.ts";
import { openRealNode, scratchNamespace } from "../../../tests/cluster/scene/real_node.ts";
import { pause, until } from "../../../tests/cluster/scene/until.ts";
import { benchFlags, goal, printResult, wholeNumber } from "../bench.ts";
import {
  AT_ONCE,
  beatNode,
  BENCH_NODE,
  createPods,
  forAll,
  INSTALLATION,
  type MeasuredController,
  podName,
  removeNode,
  reportLimit,
  startController,
  untilTrue,
} from "./run.ts";

/** Millicores; each round sets the other. */
const LIMITS = [300, 400] as const;

/** Without a write for so long, no event was ever left for the rounds that count. */
const SILENT_MS = 3000;
/** Before each round the server may finish what the writes before it have left to do. */
const REST_MS = 1000;

const { json, pods: count, rounds } = benchFlags<Record<"pods" | "rounds", number>>(
  new Command("bench:controller")
    .description("Resizes per second against a bare loop. Exits with 1 when a goal is missed.")
    .option("--pods <n>", "pods", wholeNumber, 800)
    .option("--rounds <n>", "rounds of each", wholeNumber, 5),
);

const CRDS = new URL("../../../manifests/crds", import.meta.url).pathname;
const kubectl = createKubectl();
await kubectl.must(["apply", "-k", CRDS]);
await kubectl.must(["wait", "crd", "--all", "--for=condition=Established", "--timeout=30s"]);
using api = await openRealNode();
const { connection } = api;
// By another name than the controller's: to it these limits are the user's own.
const resizer = createPodResizer(connection, { fieldManager: "bench" });
await refuseSharedCluster();
await using scratch = await scratchNamespace(connection, {
  labels: { "mbcas.io/managed": "true" },
});
const namespace = scratch.name;
const bench = { api, namespace, count };
const agent = createNodeLink(connection, {
  nodeName: BENCH_NODE,
  namespace: INSTALLATION,
  clock: systemClock,
  durationSeconds: 120,
});
const say = (text: string): void => json ? undefined : console.log(text);
const nextLimit = alternating();

function alternating(): () => number {
  let next = 0;
  return () => LIMITS[next++ % LIMITS.length] ?? LIMITS[0];
}

/** A controller here would give other managed pods their original limits back. */
async function refuseSharedCluster(): Promise<void> {
  const path = "/apis/allocation.mbcas.io/v1alpha1/podallocations";
  // The server makes the place where they are kept a moment after it has reported that there is a CRD.
  const { length } = await until("list of allocations", () => api.items(path));
  if (length === 0) return;
  throw new RangeError(
    `Cannot measure: the cluster has ${length} managed pods, expected one without any`,
  );
}

async function report(limitCPU: number): Promise<void> {
  await beatNode(bench);
  await forAll(count, (index) => reportLimit(bench, { index, limitCPU }));
}

/** Resizes per second. */
async function bareRound(podUIDs: readonly string[]): Promise<number> {
  const limitCPU = nextLimit();
  await pause(REST_MS);
  const begun = performance.now();
  await forAll(count, async (index) => {
    const change = { name: "app", sidecar: false, requests: {}, limits: { cpu: limitCPU } };
    const patch = resizePatch(podUIDs[index] ?? "", [change]);
    await resizer.resize(namespace, podName(index), patch);
  });
  const perSecond = count / (performance.now() - begun) * 1000;
  await report(limitCPU);
  return perSecond;
}

async function bareRounds(podUIDs: readonly string[]): Promise<number[]> {
  const all: number[] = [];
  for (let round = 0; round < rounds; round++) all.push(await bareRound(podUIDs));
  return all;
}

/** One limit for all pods, wanted first and then enforced at once. */
async function enforcedRound(controller: MeasuredController): Promise<number> {
  const limitCPU = nextLimit();
  const everyReason = (wanted: string): boolean =>
    controller.allocations().every(({ status }) => status?.reason === wanted);
  await agent.renewLease();
  controller.setDryRun(true);
  await controller.want(limitCPU);
  await untilTrue("dry run of all pods", () => everyReason("DryRun")).catch((cause) => {
    const reasons = controller.allocations().map(({ status }) => status?.reason);
    throw new Error(`Cannot measure: pods are ${[...new Set(reasons)].join(", ")}`, { cause });
  });
  controller.takeResizes();
  await pause(REST_MS);
  const begun = performance.now();
  controller.setDryRun(false);
  const resized = new Set<string>();
  await untilTrue("resizes of all pods", () => {
    for (const name of controller.takeResizes()) resized.add(name);
    return resized.size >= count;
  });
  const perSecond = count / (performance.now() - begun) * 1000;
  await report(limitCPU);
  await untilTrue("confirmation of all pods", () => everyReason("Applied"));
  return perSecond;
}

/** Waits until the controller has written nothing but its lease for some seconds. */
async function untilSilent({ writes }: MeasuredController): Promise<void> {
  for (let known = -1; known < writes();) {
    known = writes();
    await pause(SILENT_MS);
  }
}

try {
  const podUIDs = await createPods(bench);
  await bareRound(podUIDs);
  say(`bare loop, ${rounds} rounds of ${count} pods`);
  const before = await bareRounds(podUIDs);

  const controller = startController(bench);
  await untilTrue(
    "bounds of all pods",
    () => controller.allocations().filter(({ status }) => status?.bounds).length === count,
  );
  say("controller");
  const enforced: number[] = [];
  // As with the bare loop, the first round is not counted, nor are the events that come of it: of a
  // pod there is at most one of a kind in five minutes.
  await enforcedRound(controller);
  await untilSilent(controller);
  for (let round = 0; round < rounds; round++) enforced.push(await enforcedRound(controller));
  await controller.end();
  const bare = quantile([...before, ...await bareRounds(podUIDs)], 0.5);
  const own = quantile(enforced, 0.5);
  const perSecond = { bare: Math.round(bare), controller: Math.round(own) };
  const figures = { pods: count, rounds, concurrency: AT_ONCE, perSecond };
  printResult({
    json,
    figures,
    goals: [goal("bare loop's resizes / the controller's", bare / own, { most: 1.25 })],
    text: Object.entries(figures).map(([name, value]) => `${name}: ${JSON.stringify(value)}`),
  });
} finally {
  await removeNode(bench);
}
