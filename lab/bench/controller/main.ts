/**
 * Times the controller's enforcement against a bare loop of resize requests with the same
 * concurrency on the same server, and counts what it writes while nothing changes.
 *
 * The pods stand on a node that is an object only, so no kubelet takes part; what one would report
 * is written between the rounds. Needs `KUBECONFIG`, and a cluster without the product.
 *
 * @module
 */
import { Command } from "commander";
import { wholeNumber } from "../parse_flags.ts";
import { connectKubeconfig } from "../../../adapters/kube/client/connect.ts";
import { createNodeLink } from "../../../adapters/kube/writers/lease_writers.ts";
import { createPodResizer } from "../../../adapters/kube/writers/pod_writers.ts";
import { systemClock } from "../../../adapters/system_clock.ts";
import { resizePatch } from "../../../shared/resize/patch.ts";
import { quantile } from "../../simulation/statistics.ts";
import { createKubectl } from "../../../tests/cluster/kubectl.ts";
import { pause, until } from "../../../tests/cluster/scene/until.ts";
import {
  beatNode,
  BENCH_NAMESPACE,
  BENCH_NODE,
  createPods,
  forAll,
  podName,
  removePods,
  reportLimit,
} from "./pods.ts";
import { type MeasuredController, startController, untilTrue } from "./run.ts";

/** Pods that the controller reconciles at the same time, and requests of the bare loop. */
const AT_ONCE = 8;
/** Millicores; each round sets the other. */
const LIMITS = [300, 400] as const;

/** What is asked for: resizes per second, as a share of the bare loop's. */
const LEAST_SHARE = 0.8;
/** Without a write for so long, no event was ever left for the rounds that count. */
const SILENT_MS = 3000;
/** Before each round the server may finish what the writes before it have left to do. */
const REST_MS = 1000;
/** Seconds between two signs of life, as a kubelet gives them. */
const BEAT_S = 10;

const values = new Command("bench:controller")
  .description("Resizes per second against a bare loop of requests, on a cluster without others.")
  .option("--json", "print JSON instead of text", false)
  .option("--pods <n>", "number of pods", wholeNumber, 800)
  .option("--rounds <n>", "number of rounds", wholeNumber, 5)
  .option("--quiet <seconds>", "how long nothing may be written after them", wholeNumber, 60)
  .parse(Deno.args[0] === "--" ? Deno.args.slice(1) : Deno.args, { from: "user" })
  .opts<{ json: boolean; pods: number; rounds: number; quiet: number }>();
const { pods: count, rounds } = values;

interface Round {
  readonly perSecond: number;
  readonly requestMs: readonly number[];
}

const CRDS = new URL("../../../manifests/crds", import.meta.url).pathname;
const kubectl = createKubectl();
await kubectl.must(["apply", "-k", CRDS]);
await kubectl.must(["wait", "crd", "--all", "--for=condition=Established", "--timeout=30s"]);
const connection = await connectKubeconfig();
// By another name than the controller's: to it these limits are the user's own.
const resizer = createPodResizer(connection, { fieldManager: "bench" });
const agent = createNodeLink(connection, {
  nodeName: BENCH_NODE,
  namespace: BENCH_NAMESPACE,
  clock: systemClock,
  durationSeconds: 120,
});
const say = (text: string): void => values.json ? undefined : console.log(text);
const nextLimit = alternating();

function alternating(): () => number {
  let next = 0;
  return () => LIMITS[next++ % LIMITS.length] ?? LIMITS[0];
}

/** A controller here would give other managed pods their original limits back. */
async function refuseSharedCluster(): Promise<void> {
  const path = "/apis/allocation.mbcas.io/v1alpha1/podallocations";
  // The server makes the place where they are kept a moment after it has reported that there is a CRD.
  const { items } = await until(
    "list of allocations",
    () => connection.request({ path }),
  ) as { items: readonly unknown[] };
  if (items.length > 0) {
    throw new RangeError(
      `Cannot measure: the cluster has ${items.length} managed pods, expected one without any`,
    );
  }
}

async function uids(): Promise<string[]> {
  const path = (index: number): string =>
    `/api/v1/namespaces/${BENCH_NAMESPACE}/pods/${podName(index)}`;
  const found: string[] = [];
  await forAll({ count, atOnce: AT_ONCE }, async (index) => {
    const pod = await connection.request({ path: path(index) }) as { metadata: { uid: string } };
    found[index] = pod.metadata.uid;
  });
  return found;
}

async function report(limitCPU: number): Promise<void> {
  await beatNode(connection, count);
  await forAll({ count, atOnce: AT_ONCE }, (index) => reportLimit(connection, { index, limitCPU }));
}

async function bareRound(podUIDs: readonly string[]): Promise<Round> {
  const limitCPU = nextLimit();
  const requestMs: number[] = [];
  await pause(REST_MS);
  const begun = performance.now();
  await forAll({ count, atOnce: AT_ONCE }, async (index) => {
    const sent = performance.now();
    const change = { name: "app", sidecar: false, requests: {}, limits: { cpu: limitCPU } };
    const patch = resizePatch(podUIDs[index] ?? "", [change]);
    await resizer.resize(BENCH_NAMESPACE, podName(index), patch);
    requestMs.push(performance.now() - sent);
  });
  const perSecond = count / (performance.now() - begun) * 1000;
  await report(limitCPU);
  return { perSecond, requestMs };
}

async function bareRounds(podUIDs: readonly string[]): Promise<Round[]> {
  const all: Round[] = [];
  for (let round = 0; round < rounds; round++) all.push(await bareRound(podUIDs));
  return all;
}

/** One limit for all pods, wanted first and then enforced at once. */
async function enforcedRound(
  controller: MeasuredController,
): Promise<Round & { readonly writes: Record<string, number> }> {
  const limitCPU = nextLimit();
  const everyReason = (wanted: string): boolean =>
    controller.allocations().every(({ status }) => status?.reason === wanted);
  await agent.renewLease();
  controller.setDryRun(true);
  await controller.want(limitCPU);
  await untilTrue("dry run of all pods", () => everyReason("DryRun")).catch((cause) => {
    throw new Error(`Cannot measure: pods are ${JSON.stringify(countReasons(controller))}`, {
      cause,
    });
  });
  controller.takeResizes();
  const requestMs: number[] = [];
  const earlier = new Map(controller.writes);
  await pause(REST_MS);
  const begun = performance.now();
  controller.setDryRun(false);
  const resized = new Set<string>();
  await untilTrue("resizes of all pods", () => {
    for (const { name, tookMs } of controller.takeResizes()) {
      resized.add(name);
      requestMs.push(tookMs);
    }
    return resized.size >= count;
  });
  const perSecond = count / (performance.now() - begun) * 1000;
  const writes = freshWrites(controller.writes, earlier);
  await report(limitCPU);
  await untilTrue("confirmation of all pods", () => everyReason("Applied"));
  return { perSecond, requestMs, writes };
}

function countReasons(controller: MeasuredController): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status } of controller.allocations()) add(counts, { [status?.reason ?? "none"]: 1 });
  return counts;
}

/** Waits until the controller has written nothing but its lease for some seconds. */
async function untilSilent({ writes }: MeasuredController): Promise<void> {
  const total = (): number =>
    [...writes].reduce((sum, [line, n]) => line.includes("/leases/") ? sum : sum + n, 0);
  for (let known = -1; known < total();) {
    known = total();
    await pause(SILENT_MS);
  }
}

/** Writes since `earlier`, by method and path. */
function freshWrites(
  now: ReadonlyMap<string, number>,
  earlier: ReadonlyMap<string, number>,
): Record<string, number> {
  const fresh = [...now].map(([line, total]) => [line, total - (earlier.get(line) ?? 0)] as const);
  return Object.fromEntries(fresh.filter(([, writes]) => writes > 0));
}

function add(sums: Record<string, number>, more: Readonly<Record<string, number>>): void {
  for (const [line, writes] of Object.entries(more)) sums[line] = (sums[line] ?? 0) + writes;
}

interface Summary {
  readonly perSecond: number;
  readonly medianMs: number;
  readonly p95Ms: number;
}

function summary(all: readonly Round[]): Summary {
  const requestMs = all.flatMap((round) => round.requestMs);
  return {
    perSecond: Math.round(quantile(all.map(({ perSecond }) => perSecond), 0.5)),
    medianMs: Number(quantile(requestMs, 0.5).toFixed(2)),
    p95Ms: Number(quantile(requestMs, 0.95).toFixed(2)),
  };
}

/** The node's and its agent's signs of life, and nothing else. */
async function quiet(seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second++) {
    if (second % BEAT_S === 0) {
      await beatNode(connection, count);
      await agent.renewLease();
    }
    await pause(1000);
  }
}

/** Whether the targets were met. */
function isGood(share: number, quietWrites: Readonly<Record<string, number>>): boolean {
  const own = Object.keys(quietWrites).filter((line) => !line.includes("/leases/"));
  return share >= LEAST_SHARE && own.length === 0;
}

await refuseSharedCluster();
await createPods(connection, count);
try {
  const podUIDs = await uids();
  await bareRound(podUIDs);
  say(`bare loop, ${rounds} rounds of ${count} pods`);
  const before = await bareRounds(podUIDs);

  const controller = startController(connection);
  await untilTrue(
    "bounds of all pods",
    () => controller.allocations().filter(({ status }) => status?.bounds).length === count,
  );
  say("controller");
  const enforced: Round[] = [];
  const roundWrites: Record<string, number> = {};
  // As with the bare loop, the first round is not counted, nor are the events that come of it: of a
  // pod there is at most one of a kind in five minutes.
  await enforcedRound(controller);
  await untilSilent(controller);
  for (let round = 0; round < rounds; round++) {
    const { writes, ...measured } = await enforcedRound(controller);
    enforced.push(measured);
    add(roundWrites, writes);
  }

  say(`nothing but heartbeats and leases for ${values.quiet} s`);
  await quiet(5);
  const writesBefore = new Map(controller.writes);
  await quiet(values.quiet);
  const quietWrites = freshWrites(controller.writes, writesBefore);
  await controller.end();
  const after = await bareRounds(podUIDs);

  const bare = summary([...before, ...after]);
  const own = summary(enforced);
  const share = Number((own.perSecond / bare.perSecond).toFixed(3));
  if (!isGood(share, quietWrites)) Deno.exitCode = 1;
  const result = {
    pods: count,
    rounds,
    concurrency: AT_ONCE,
    node: "an object without a kubelet",
    bare,
    controller: own,
    share,
    roundWrites,
    quietSeconds: values.quiet,
    quietWrites,
  };
  console.log(JSON.stringify(result, null, values.json ? undefined : 2));
} finally {
  await removePods(connection, count);
  connection.close();
}
