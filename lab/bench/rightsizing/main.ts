/**
 * One whole pass of rightsizing from empty caches: `deno task bench:rightsizing`.
 *
 * @module
 */
import process from "node:process";
import { autoPolicy } from "../../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import { checkRecords } from "./check_records.ts";
import { parseRightsizingBench } from "./command_line.ts";
import { type PassFigures, passGoals, passTable } from "./report.ts";
import { startLoop } from "./running_loop.ts";
import { startUsageServer } from "./usage_server.ts";
import { memoryAfterGC, watchMemory } from "./watch_memory.ts";
import { printAnswer } from "../parse_flags.ts";

const request = parseRightsizingBench(Deno.args);
if ("exitCode" in request) Deno.exit(printAnswer(request));
const { json, ...size } = request;

async function measurePass(): Promise<PassFigures> {
  await using server = await startUsageServer(size);
  await using loop = startLoop(size, server.url);
  await loop.synced;
  const idle = await memoryAfterGC();
  using watch = watchMemory();
  const cpuBefore = process.cpuUsage();
  const { tookMs } = await loop.pass(autoPolicy({}, { mode: "Recommend" }));
  const { user, system } = process.cpuUsage(cpuBefore);
  const highest = watch.highest();
  const after = await memoryAfterGC();
  return {
    size,
    passSeconds: tookMs / 1000,
    cpuSeconds: (user + system) / 1e6,
    served: await server.stats(),
    idle,
    highest,
    after,
    checked: checkRecords(loop.records(), size),
  };
}

const figures = await measurePass();
const goals = passGoals(figures);
console.log(
  json ? JSON.stringify({ ...figures, goals }, undefined, 2) : passTable(figures),
);
if (goals.some(({ held }) => held === false)) Deno.exitCode = 1;
