/**
 * How long the controller's loop keeps the event loop from its other work, and what the queue of
 * resizes costs: `deno task bench:controller-loop`. The API is in memory and answers after 2 ms.
 *
 * @module
 */
import { Command } from "commander";
import { systemClock } from "../../../adapters/system_clock.ts";
import { runAllocationLoop } from "../../../controller/allocation/allocation_loop.ts";
import { DEFAULT_MARKET_CONFIG } from "../../../controller/config.ts";
import { silentLog } from "../../../shared/log.ts";
import { seededRandom } from "../../../shared/random.ts";
import { createMemoryCluster, type MemoryCluster } from "./memory_cluster.ts";
import { watchEventLoop } from "./event_loop_watch.ts";
import { alignedColumns } from "../aligned_columns.ts";
import { parseFlags } from "../parse_flags.ts";

/** What one scene found. */
interface SceneFigures {
  readonly scene: string;
  readonly longestStallMs: number;
  readonly longestStallCPUMs: number;
  readonly cpuMsPerSecond: number;
  readonly restoredPods: number;
}

/** A scene: how many pods, whether the market is off, and which seconds of its run count. */
interface LoopScene {
  readonly scene: string;
  readonly pods: number;
  readonly market: boolean;
  readonly fromSeconds: number;
  readonly forSeconds: number;
}

const SCENES: readonly LoopScene[] = [
  { scene: "market off", pods: 4000, market: false, fromSeconds: 0, forSeconds: 90 },
  { scene: "market off", pods: 5000, market: false, fromSeconds: 0, forSeconds: 30 },
  { scene: "market off", pods: 10_000, market: false, fromSeconds: 0, forSeconds: 30 },
  { scene: "steady state", pods: 30_000, market: true, fromSeconds: 30, forSeconds: 90 },
];

async function play(
  { scene, pods, market, fromSeconds, forSeconds }: LoopScene,
): Promise<SceneFigures> {
  const cluster: MemoryCluster = createMemoryCluster({ pods, raised: !market });
  const stop = new AbortController();
  const loop = runAllocationLoop({
    ...cluster.parts,
    templates: { limitsOf: () => Promise.resolve(undefined) },
    events: { emit: () => {} },
    instantQueries: {
      ask: () => Promise.resolve({ problem: "unreachable", message: "no server" }),
    },
    clock: systemClock,
    random: seededRandom(1),
    log: silentLog,
    config: { ...DEFAULT_MARKET_CONFIG, market, maxNewAllocationsPerSecond: 10_000 },
  }, stop.signal);
  await systemClock.sleep(fromSeconds * 1000);
  const watch = watchEventLoop();
  await systemClock.sleep(forSeconds * 1000);
  const use = watch.end();
  stop.abort();
  await loop;
  return {
    scene: `${scene}, ${pods} pods`,
    ...use,
    restoredPods: cluster.restored(),
  };
}

const request = parseFlags<{ readonly json: boolean; readonly pods?: string }>(
  new Command("bench:controller-loop")
    .option("--json", "print JSON", false)
    .option("--pods <count>", "only the scenes with this many pods"),
  Deno.args,
);
if ("exitCode" in request) {
  console.log(request.text.trimEnd());
  Deno.exit(request.exitCode);
}
const figures: SceneFigures[] = [];
for (const scene of SCENES) {
  if (request.pods === undefined || scene.pods === Number(request.pods)) {
    figures.push(await play(scene));
  }
}
console.log(
  request.json ? JSON.stringify(figures, undefined, 2) : alignedColumns([
    ["scene", "longest stall, ms", "its CPU, ms", "CPU, ms/s", "restored"],
    ...figures.map((one) => [
      one.scene,
      one.longestStallMs.toFixed(0),
      one.longestStallCPUMs.toFixed(0),
      one.cpuMsPerSecond.toFixed(0),
      String(one.restoredPods),
    ]),
  ]).join("\n"),
);
