/**
 * How long a burst waits for an answer: from the burst in a pod to the other quota in a cgroup,
 * through agent, API server, controller and kubelet, on the node of `KUBECONFIG` that runs here.
 *
 * `--idle-cpu tight`: limits follow demand, and the burst's own quota grows. `--idle-cpu free`:
 * a neighbour in the market has all the CPU; a service bursts with a weight in the market above
 * that in the kernel, and the neighbour's quota shrinks. With `--saturate` a pod outside of the
 * market is busy on all CPUs, too.
 *
 * @module
 */
import { Command, Option } from "commander";
import { IDLE_CPU, type IdleCPU } from "../../../shared/config/schema.ts";
import { ALLOW_OVERRIDES } from "../../../shared/api/market_keys.ts";
import {
  openRealNode,
  type RealNode,
  scratchNamespace,
} from "../../../tests/cluster/scene/real_node.ts";
import { pause, until } from "../../../tests/cluster/scene/until.ts";
import { withSettings } from "../../../tests/cluster/scene/product.ts";
import { reactionGoals, reactionOf } from "./report.ts";
import { benchFlags, printResult, wholeNumber } from "../bench.ts";
import { podDirectories, processOne, quotaOf } from "../../../tests/cluster/scene/node_cgroups.ts";
import { appliedAllocation } from "../../../tests/cluster/scene/limits.ts";
import { type LoadPod, loadPod } from "../../../tests/cluster/scene/load_pod.ts";

/** Where the limit goes that answers a burst: `up` its own, `down` that of a neighbour. */
type Direction = "up" | "down";

interface Answer {
  /** From the begin of the burst to the container's other quota, ms. */
  readonly tookMs: number;
  /** The quota, millicores. */
  readonly to: number;
}

/** A container in which bursts can be started. */
interface Target {
  /** Process 1 of the container, as this machine numbers it. */
  readonly pid: number;
  /** The most that the market may give it, millicores. */
  readonly ceiling: number;
  /** The container's limit by its cgroup, millicores. */
  limit(): number;
}

/** A container that bursts, and the one with a quota that answers the burst, which may be the same. */
interface Pair {
  readonly bursts: Target;
  readonly answers: Target;
}

/** How often the quota is looked at, ms. It bounds the error of a time. */
const LOOK_MS = 2;

/** Starts a burst and waits until the quota has moved; undefined when it has not in time. */
async function burst(
  { bursts, answers: { limit } }: Pair,
  { timeoutMs, direction }: { readonly timeoutMs: number; readonly direction: Direction },
): Promise<Answer | undefined> {
  const from = limit();
  const begun = performance.now();
  Deno.kill(bursts.pid, "SIGUSR1");
  for (;;) {
    const tookMs = performance.now() - begun;
    const to = limit();
    if (direction === "up" ? to > from : to < from) return { tookMs, to };
    if (tookMs > timeoutMs) return undefined;
    await pause(LOOK_MS);
  }
}

const CPUS = navigator.hardwareConcurrency;
/** In `tight` bursts of one pod lie far apart, so that its limit comes back to its floor in between. */
const PODS = 25;

/** How long a burst lasts, s. */
const BURST_SECONDS = { tight: 2, free: 5 } as const;

/** Makes the pods that burst, and those with quotas that answer. */
async function burstingPairs(
  node: RealNode,
  { namespace, idleCPU }: { readonly namespace: string; readonly idleCPU: IdleCPU },
): Promise<readonly Pair[]> {
  const make = (pod: Omit<LoadPod, "namespace">): Promise<Target> =>
    makeTarget(node, { namespace, ...pod });
  const burstSeconds = BURST_SECONDS[idleCPU];
  if (idleCPU === "tight") {
    const load = { name: "load", request: "30m", limit: "30m", burstSeconds };
    const pairs: Pair[] = [];
    for (let i = 0; i < PODS; i++) {
      const target = await make({ name: `burst-${i}`, containers: [load] });
      pairs.push({ bursts: target, answers: target });
    }
    return pairs;
  }
  // By requests, the kernel's weights, a burst gets a sixth of the node, and two thirds by priority.
  const bursts = await make({
    name: "service",
    annotations: { "mbcas.io/priority-multiplier": "10" },
    containers: [{ name: "load", request: "100m", limit: "500m", threads: CPUS, burstSeconds }],
  });
  const answers = await make({
    name: "neighbour",
    containers: [{ name: "load", request: "500m", limit: "500m", threads: 4 * CPUS, busy: true }],
  });
  return [{ bursts, answers }];
}

async function makeTarget(node: RealNode, pod: LoadPod): Promise<Target> {
  const running = await node.run(loadPod(pod));
  const { status } = await appliedAllocation(node, running);
  const { containers, version } = podDirectories(running);
  const container = containers.get("load") ?? "";
  return {
    pid: processOne(running, "load"),
    ceiling: status?.bounds?.containers[0]?.ceiling ?? Infinity,
    limit: () => quotaOf(container, version) ?? Infinity,
  };
}

/** Makes a pod outside of the market, without requests, that is busy on all CPUs. */
async function saturatingPod(node: RealNode, namespace: string): Promise<void> {
  await node.run(loadPod({
    name: "saturating",
    namespace,
    labels: { "mbcas.io/managed": "false" },
    containers: [{ name: "load", busy: true, threads: CPUS }],
  }));
}

const { json, idleCpu: idleCPU, saturate, bursts: wanted } = benchFlags<{
  idleCpu: IdleCPU;
  saturate: boolean;
  bursts: number;
}>(
  new Command("bench:reaction")
    .description("Burst in a pod to the quota that answers it. Needs root on the node itself.")
    .addOption(
      new Option("--idle-cpu <value>", "market.idleCPU").choices([...IDLE_CPU]).default("tight"),
    )
    .option("--saturate", "all CPUs are busy outside of the market, too", false)
    .option("--bursts <n>", "number of bursts", wholeNumber, 50),
);

/** A burst that was not answered while it lasted is missed. */
const TIMEOUT_MS = 1000 * BURST_SECONDS[idleCPU];
const SETTLE_MS = 30_000;
/** Between the begins of two bursts. */
const EVERY_MS = { tight: 6000, free: 5000 }[idleCPU];
/** The controller leaves a second between two changes of a pod: a burst within it measures that wait. */
const AFTER_RELEASE_MS = 1100;
/** A node that is full leaves a limit somewhat below its ceiling. */
const NEAR_CEILING = 0.8;
const direction = idleCPU === "tight" ? "up" : "down";

const log = (text: string): void => console.error(text);
const isAtCeiling = ({ answers: { limit, ceiling } }: Pair): boolean =>
  limit() >= NEAR_CEILING * ceiling;
using node = await openRealNode();
await using _settings = await withSettings({ market: { idleCPU } });
await using namespace = await scratchNamespace(node.connection, {
  labels: { [ALLOW_OVERRIDES]: "true" },
});
const pairs = await burstingPairs(node, { namespace: namespace.name, idleCPU });
if (saturate) await saturatingPod(node, namespace.name);
log(`waiting ${SETTLE_MS / 1000} s for the limits to settle`);
await pause(SETTLE_MS);
const atCeiling = pairs.filter(isAtCeiling).length;
log(`${atCeiling} of ${pairs.length} limits are at their ceilings before the first burst`);

const answeredMs: number[] = [];
const counts = { begun: 0, missed: 0, ready: 0 };
while (counts.begun < wanted) {
  const pair = pairs[counts.begun % pairs.length];
  if (pair === undefined) break;
  if (direction === "down") {
    const back = () => isAtCeiling(pair) || undefined;
    await until("limit back at its ceiling", back, { timeoutMs: 60_000 });
    await pause(AFTER_RELEASE_MS);
  }
  const number = `${++counts.begun}/${wanted}`;
  const next = performance.now() + EVERY_MS;
  const from = pair.answers.limit();
  const isReady = isAtCeiling(pair) && direction === "up";
  const answer = await burst(pair, { timeoutMs: TIMEOUT_MS, direction });
  if (answer !== undefined) {
    answeredMs.push(answer.tookMs);
    log(`${number}: ${answer.tookMs.toFixed(0)} ms, ${from} -> ${answer.to} m`);
  } else if (isReady) {
    counts.ready++;
    log(`${number}: ${from} m before, at its ceiling`);
  } else {
    counts.missed++;
    log(`${number}: ${from} m did not go ${direction} within ${TIMEOUT_MS} ms`);
  }
  await pause(Math.max(0, next - performance.now()));
}
const reaction = reactionOf(answeredMs, { missed: counts.missed, timeoutMs: TIMEOUT_MS });
printResult({
  json,
  figures: { ...counts, ...reaction },
  goals: reactionGoals(reaction, counts.missed),
  text: [
    `idle CPU ${idleCPU}, ${saturate ? "saturated" : "quiet"}, ${pairs.length} pairs on ` +
    `${navigator.hardwareConcurrency} CPUs; at their ceilings before the first burst: ${atCeiling}`,
    `${counts.begun} bursts, ${counts.missed} missed; ${counts.ready} were at their ceilings`,
  ],
});
