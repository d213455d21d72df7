/**
 * The cost of placement beside an API in its own process: the memory that workloads and pods take over
 * an idle controller, and the time from a change to its decision. `deno task bench:placement`, `--
 * --workloads 50` for a quick look.
 *
 * @module
 */
import { Command } from "commander";
import { quantile } from "../../simulation/statistics.ts";
import { benchFlags, goal, printResult, wholeNumber } from "../bench.ts";
import { memoryAfterGC } from "../memory.ts";
import { SHARE } from "./cluster_objects.ts";
import { startPlacement } from "./running_loop.ts";

const MEGABYTES_PER_MEBIBYTE = 2 ** 20 / 1e6;

const { json, changes, ...size } = benchFlags<{
  workloads: number;
  pods: number;
  changes: number;
}>(
  new Command("bench:placement")
    .description("Memory and reaction of placement. Exits with 1 when a goal is missed.")
    .option("--workloads <n>", "Deployments", wholeNumber, 1000)
    .option("--pods <n>", "of each Deployment", wholeNumber, 10)
    .option("--changes <n>", "Deployments with a share that is changed", wholeNumber, 50),
);
// Once for all that is loaded and compiled when it is used for the first time.
await using _warm = startPlacement({ workloads: 1, pods: 1 });
await _warm.synced;
const idle = await memoryAfterGC();
const begun = performance.now();
await using loop = startPlacement(size);
await loop.synced;
const syncedSeconds = (performance.now() - begun) / 1000;
const full = await memoryAfterGC();
const decisionMs: number[] = [];
for (let index = 0; index < Math.min(changes, size.workloads); index++) {
  decisionMs.push(await loop.change(index, SHARE + 20));
}
const medianMs = quantile(decisionMs, 0.5);
const mostMs = quantile(decisionMs, 1);
const overIdle = (of: "resident" | "used") => MEGABYTES_PER_MEBIBYTE * (full[of] - idle[of]);
printResult({
  json,
  figures: { size, idle, full, syncedSeconds, decisions: { medianMs, mostMs } },
  goals: [
    goal("resident over idle, MB", overIdle("resident"), { most: 100 }),
    goal("used over idle, MB", overIdle("used"), { most: 100 }),
    goal("change to decision, s", mostMs / 1000, { most: 5 }),
  ],
  text: [
    `${size.workloads} Deployments of ${size.pods} pods, all looked at after ` +
    `${syncedSeconds.toFixed(2)} s`,
    `${decisionMs.length} changes, median ${medianMs.toFixed(0)} ms`,
  ],
});
