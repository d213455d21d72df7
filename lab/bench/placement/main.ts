/**
 * What placement costs: `deno task bench:placement`, `-- --workloads 50` for a quick look.
 *
 * @module
 */
import { quantile } from "../../simulation/statistics.ts";
import { SHARE } from "./cluster_objects.ts";
import { parsePlacementBench } from "./command_line.ts";
import { type PlacementFigures, placementGoals, placementTable } from "./report.ts";
import { startPlacement } from "./running_loop.ts";
import { memoryAfterGC } from "../rightsizing/watch_memory.ts";
import { printAnswer } from "../parse_flags.ts";

const request = parsePlacementBench(Deno.args);
if ("exitCode" in request) Deno.exit(printAnswer(request));
const { json, changes, ...size } = request;

async function measure(): Promise<PlacementFigures> {
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
  return {
    size,
    idle,
    full,
    syncedSeconds,
    decisions: {
      count: decisionMs.length,
      medianMs: quantile(decisionMs, 0.5),
      mostMs: Math.max(...decisionMs),
    },
  };
}

const figures = await measure();
const goals = placementGoals(figures);
console.log(json ? JSON.stringify({ ...figures, goals }, undefined, 2) : placementTable(figures));
if (goals.some(({ held }) => !held)) Deno.exitCode = 1;
