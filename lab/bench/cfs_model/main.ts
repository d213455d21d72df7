/**
 * The simulation's model of CPU quotas against the running kernel: `deno task bench:cfs-model`. Needs
 * root: it makes cgroups of its own, and removes them, when it is interrupted, too.
 *
 * @module
 */
import { openGroups } from "./cgroup.ts";
import { parseCommandLine } from "./command_line.ts";
import { type Cell, grid, loadName } from "./grid.ts";
import { type KernelRun, type KernelTools, measureTick, runOnKernel } from "./kernel.ts";
import { startLoad } from "./load_threads.ts";
import { type CFSModelReport, cfsModelTable, compareCell } from "./report.ts";
import { perSecond, runInModel } from "./scene.ts";
import { printAnswer } from "../parse_flags.ts";

/** A run that was disturbed is repeated as often, then left to a later round. */
const TRIES = 4;
/** Rounds more, for the cells that lack undisturbed runs; for what they lack then others count. */
const EXTRA_ROUNDS = 5;

const request = parseCommandLine(Deno.args);
if ("exitCode" in request) Deno.exit(printAnswer(request));
const { json, quick, repetitions = quick ? 3 : 5 } = request;
const cpus = navigator.hardwareConcurrency;
const cells = grid({ quick, cpus });

/** An undisturbed run, or as many others as it may take. */
async function tryCell(cell: Cell, tools: KernelTools): Promise<KernelRun[]> {
  const tries: KernelRun[] = [];
  while (tries.length < TRIES) {
    tries.push(await runOnKernel(cell, tools));
    if (tries.at(-1)?.disturbed === false) break;
  }
  return tries;
}

const factory = openGroups();
const load = await startLoad(Math.max(...cells.map(({ threads }) => threads)));
const cleanUp = async (): Promise<void> => {
  await load[Symbol.asyncDispose]();
  factory[Symbol.dispose]();
};
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  Deno.addSignalListener(signal, () => void cleanUp().finally(() => Deno.exit(130)));
}

const runs = new Map<Cell, KernelRun[]>(cells.map((cell) => [cell, []]));

function isComplete(cell: Cell): boolean {
  return (runs.get(cell) ?? []).filter(({ disturbed }) => !disturbed).length >= repetitions;
}

/** The runs that count: undisturbed ones first. */
function counting(cell: Cell): KernelRun[] {
  return (runs.get(cell) ?? []).toSorted((a, b) => Number(a.disturbed) - Number(b.disturbed))
    .slice(0, repetitions);
}

/** Runs the whole grid again and again: what the machine is up to at a time is in no cell's median. */
async function runAll(): Promise<number> {
  const tickMs = await measureTick(load);
  for (let round = 1; round <= repetitions + EXTRA_ROUNDS; round++) {
    for (const cell of cells) {
      if (isComplete(cell)) continue;
      const { quota, threads } = cell;
      console.error(`${round}/${repetitions}  ${quota}m, ${threads} threads, ${loadName(cell)}`);
      runs.get(cell)?.push(...await tryCell(cell, { factory, load }));
    }
  }
  return tickMs;
}

const tickMs = await runAll().finally(cleanUp);
const compared = cells.map((cell) =>
  compareCell(cell, {
    runs: counting(cell).map(perSecond),
    model: runInModel(cell, { cores: cpus, tickMs }),
  })
);
const all = [...runs.values()].flat();
const used = cells.flatMap(counting);
const report: CFSModelReport = {
  kernel: Deno.osRelease(),
  cgroups: factory.version,
  cpus,
  tickMs,
  repetitions,
  repeated: all.length - used.length,
  disturbed: used.filter(({ disturbed }) => disturbed).length,
  cells: compared,
  passes: compared.every(({ passes }) => passes),
};
console.log(json ? JSON.stringify(report, undefined, 2) : cfsModelTable(report));
Deno.exit(report.passes ? 0 : 1);
