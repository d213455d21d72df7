/**
 * CPU and memory of the agent as shipped, by number of pods: `deno task bench:agent`. Needs root: it
 * makes the cgroups of a node's pods, and removes them. Its API is a stand-in over TLS, and limits are
 * set in the cgroups as a kubelet would.
 *
 * @module
 */
import { Command } from "commander";
import { parseCPU } from "../../../shared/quantity.ts";
import { benchFlags, columns, goal, printResult, wholeNumber } from "../bench.ts";
import { benchAllocation, benchPods, startAgentAPI } from "./api.ts";
import { makeAgentCgroups } from "./cgroups.ts";
import { agentCommand, type AgentUse, measureAgent } from "./process.ts";

const WORKING_PODS = 2;
const ALLOCATABLE = 32_000;
const SIZES = [30, 110, 250];
/** Less than the memory that the agent requests, 134 MB; for 4 looks a second at this size. */
const GOALS = { pods: 110, millicores: 12, rssMB: 125 };

const { json, seconds, warmUp, pods: sizes } = benchFlags<{
  seconds: number;
  warmUp: number;
  pods: readonly number[];
}>(
  new Command("bench:agent")
    .description("CPU and memory of the agent as shipped. Exits with 1 when a goal is missed.")
    .option("--seconds <n>", "measured time of each scene", wholeNumber, 60)
    // V8 compiles what runs once a second after minutes.
    .option("--warm-up <n>", "seconds before it", wholeNumber, 300)
    .option("--pods <n,n>", "numbers of pods", (text) => text.split(",").map(wholeNumber), SIZES),
);

/** The agent's use on one node. Working pods near their limits make the agent look more often. */
interface AgentScene extends AgentUse {
  readonly pods: number;
  readonly nearLimit: boolean;
  /** Writes of allocations: each pod's first clearing, and changes. */
  readonly writes: number;
}

async function runScene(count: number, nearLimit: boolean): Promise<AgentScene> {
  const pods = benchPods(count);
  await using cgroups = await makeAgentCgroups(pods, { working: WORKING_PODS, hard: nearLimit });
  const byUID = new Map(pods.map((pod) => [pod.uid, pod]));
  await using api = await startAgentAPI({
    allocations: pods.map(benchAllocation),
    allocatable: ALLOCATABLE,
    onDesired: (uid, { desiredCPULimit }) => {
      const pod = byUID.get(uid);
      if (pod !== undefined && desiredCPULimit !== undefined) {
        cgroups.setLimit(pod, parseCPU(desiredCPULimit));
      }
    },
  });
  const { kubeconfig, address } = api;
  const args = await agentCommand({ cgroupRoot: cgroups.root, kubeconfig, address });
  const use = await measureAgent(args, { warmUpMs: warmUp * 1000, measureMs: seconds * 1000 });
  return { pods: count, nearLimit, writes: api.writes, ...use };
}

const scenes: AgentScene[] = [];
for (const count of sizes) scenes.push(await runScene(count, false));
if (sizes.includes(GOALS.pods)) scenes.push(await runScene(GOALS.pods, true));
printResult({
  json,
  figures: { seconds, warmUp, scenes },
  goals: scenes.filter(({ pods, nearLimit }) => pods === GOALS.pods && !nearLimit)
    .flatMap(({ millicores, highestRSSMB }) => [
      goal("CPU with 110 pods, m", millicores, { most: GOALS.millicores }),
      goal("highest memory with 110 pods, MB", highestRSSMB, { most: GOALS.rssMB }),
    ]),
  text: [columns([
    "pods,CPU m,RSS MB,highest,looks/s,writes".split(","),
    ...scenes.map((scene) => [
      `${scene.pods}${scene.nearLimit ? `, ${WORKING_PODS} near limits` : ""}`,
      ...[scene.millicores, scene.rssMB, scene.highestRSSMB].map((value) => value.toFixed(1)),
      scene.looksPerSecond.toFixed(2),
      `${scene.writes}`,
    ]),
  ])],
});
