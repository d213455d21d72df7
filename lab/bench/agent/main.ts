/**
 * CPU and memory of the agent as shipped, by number of pods: `deno task bench:agent`. Needs root: it
 * makes the cgroups of a node's pods, and removes them.
 *
 * @module
 */
import { parseCPU } from "../../../shared/quantity.ts";
import { startAgentAPI } from "./api.ts";
import { makeAgentCgroups } from "./cgroups.ts";
import { parseCommandLine } from "./command_line.ts";
import { benchAllocation, benchPods } from "./pods.ts";
import { agentCommand, measureAgent } from "./process.ts";
import {
  AGENT_LIMITS,
  type AgentReport,
  type AgentScene,
  agentTable,
  withinLimits,
} from "./report.ts";
import { printAnswer } from "../parse_flags.ts";

const WORKING_PODS = 2;
const ALLOCATABLE = 32_000;
const SCRAPE_MS = 15_000;

const request = parseCommandLine(Deno.args);
if ("exitCode" in request) Deno.exit(printAnswer(request));
const { json, seconds, warmUp, pods: sizes } = request;

async function runScene(
  { count, nearLimit }: { readonly count: number; readonly nearLimit: boolean },
): Promise<AgentScene & { command: string; version: 1 | 2 }> {
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
  const use = await measureAgent(args, {
    warmUpMs: warmUp * 1000,
    measureMs: seconds * 1000,
    scrapeMs: SCRAPE_MS,
  });
  const scene = {
    pods: count,
    workingPods: WORKING_PODS,
    nearLimit,
    writes: api.writes,
    ...use,
  };
  const held = withinLimits(scene);
  return {
    ...scene,
    ...(held === undefined ? {} : { withinLimits: held }),
    command: `deno ${args.join(" ")}`,
    version: cgroups.version,
  };
}

const runs: Awaited<ReturnType<typeof runScene>>[] = [];
const idle = sizes.map((count) => ({ count, nearLimit: false }));
// The size with limits once more, where the agent has to look more often.
const near = sizes.filter((count) => count === AGENT_LIMITS.pods)
  .map((count) => ({ count, nearLimit: true }));
for (const scene of [...idle, ...near]) runs.push(await runScene(scene));
const scenes = runs.map(({ command: _command, version: _version, ...scene }) => scene);
const { command, version } = runs[0] ?? { command: "", version: 0 };
const report: AgentReport = {
  mode:
    "bundled, minified, V8 with a small heap, the shipped permissions with this machine's paths",
  command,
  cgroups: `cgroup v${version} of this kernel, made for this run, a sandbox and a container a pod`,
  api: "stand-in over TLS on the loopback, limits are set in the cgroups as a kubelet would",
  seconds,
  warmUp,
  limits: AGENT_LIMITS,
  scenes,
};
console.log(json ? JSON.stringify(report, undefined, 2) : agentTable(report));
if (scenes.some((scene) => scene.withinLimits === false)) Deno.exitCode = 1;
