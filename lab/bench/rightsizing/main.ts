/**
 * One whole pass of rightsizing over 24 h of usage, from empty caches: `deno task bench:rightsizing`.
 *
 * @module
 */
import process from "node:process";
import { Command } from "commander";
import { autoPolicy } from "../../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import { benchFlags, columns, goal, printResult, wholeNumber } from "../bench.ts";
import { memoryAfterGC, watchMemory } from "../memory.ts";
import { startLoop } from "./running_loop.ts";
import { startUsageServer } from "./usage_server.ts";

/** Memory counts from so many containers on: what a pass takes at any number would decide below. */
const FROM_CONTAINERS = 5000;
const MEBIBYTES_PER_CONTAINER = 0.1;

const { json, ...size } = benchFlags<{ workloads: number; pods: number; containers: number }>(
  new Command("bench:rightsizing")
    .description("Time, memory and queries of a pass. Exits with 1 when a goal is missed.")
    .option("--workloads <n>", "Deployments", wholeNumber, 1000)
    .option("--pods <n>", "of each Deployment", wholeNumber, 1)
    .option("--containers <n>", "of each pod", wholeNumber, 5),
);
await using server = await startUsageServer(size);
await using loop = startLoop(size, server.url);
await loop.synced;
const idle = await memoryAfterGC();
const endWatch = watchMemory();
const cpuBefore = process.cpuUsage();
const passSeconds = await loop.pass(autoPolicy({}, { mode: "Recommend" })) / 1000;
const { user, system } = process.cpuUsage(cpuBefore);
const highest = endWatch();
const after = await memoryAfterGC();
const served = await server.stats();
const recommended = loop.records().flatMap(({ recommendations }) => recommendations).length;
const missing = size.workloads * size.containers - recommended;
const all = size.workloads * size.pods * size.containers;
const ofContainers = { most: MEBIBYTES_PER_CONTAINER, counts: all >= FROM_CONTAINERS };
printResult({
  json,
  figures: { size, idle, highest, after, served, recommended },
  goals: [
    goal("pass, s", passSeconds, { most: 60 }),
    goal(
      "highest resident, MiB a container",
      (highest.resident - idle.resident) / all,
      ofContainers,
    ),
    goal("used after, MiB a container", (after.used - idle.used) / all, ofContainers),
    goal("queries a workload", served.queries / size.workloads, { most: 2 }),
    goal("queries refused", served.refused, { most: 0 }),
    goal("containers without a recommendation", missing, { most: 0 }),
  ],
  text: [
    `${size.workloads} Deployments of ${size.pods} pods with ${size.containers} containers; the API ` +
    "is simulated in this process, Prometheus is a stand-in in another one",
    columns([
      ["memory, MiB", "used", "resident"],
      ...Object.entries({ idle, highest, after }).map(([name, { used, resident }]) => [
        ...[name, used.toFixed(0), resident.toFixed(0)],
      ]),
    ]),
    `CPU ${((user + system) / 1e6).toFixed(1)} s; ${served.queries} queries, ${served.points} ` +
    `points; ${recommended} containers recommended for`,
  ],
});
