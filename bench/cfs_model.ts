/**
 * The simulation's model of CPU quotas against the running kernel: `deno task bench:cfs-model`. Needs
 * root: it makes cgroups of its own, and removes them, when it is interrupted, too.
 *
 * @module
 */
import { openGroups } from "./cfs_model_cgroup.ts";
import { parseCommandLine } from "./cfs_model_command_line.ts";
import { type Cell, grid, loadName } from "./cfs_model_grid.ts";
import { type KernelRun, type KernelTools, measureTick, runOnKernel } from "./cfs_model_kernel.ts";
import { startLoad } from "./cfs_model_load_threads.ts";
import {
  type CFSModelReport,
  cfsModelTable,
  compareCell,
  type LevelRates,
} from "./cfs_model_report.ts";
import { perSecond, runInModel } from "./cfs_model_scene.ts";

/** A run that was disturbed is repeated as often; then it counts all the same. */
const TRIES = 4;

const request = parseCommandLine(Deno.args);
if ("exitCode" in request) {
  const write = request.exitCode === 0 ? console.log : console.error;
  write(request.text.trimEnd());
  Deno.exit(request.exitCode);
}
const { json, quick, repetitions = quick ? 3 : 5 } = request;
const cpus = navigator.hardwareConcurrency;
const cells = grid({ quick, cpus });
const seen = { repeated: 0, disturbed: 0 };

async function undisturbed(cell: Cell, tools: KernelTools): Promise<KernelRun> {
  for (let tries = 1;; tries++) {
    const run = await runOnKernel(cell, tools);
    if (!run.disturbed) return run;
    if (tries === TRIES) {
      seen.disturbed++;
      return run;
    }
    seen.repeated++;
  }
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

const runs = new Map<Cell, LevelRates[]>(cells.map((cell) => [cell, []]));

/** Runs the whole grid again and again: what the machine is up to at a time is in no cell's median. */
async function runAll(): Promise<number> {
  const tickMs = await measureTick(load);
  for (let repetition = 1; repetition <= repetitions; repetition++) {
    for (const cell of cells) {
      const { quota, threads } = cell;
      console.error(
        `${repetition}/${repetitions}  ${quota}m, ${threads} threads, ${loadName(cell)}`,
      );
      runs.get(cell)?.push(perSecond(await undisturbed(cell, { factory, load })));
    }
  }
  return tickMs;
}

const tickMs = await runAll().finally(cleanUp);
const compared = cells.map((cell) =>
  compareCell(cell, {
    runs: runs.get(cell) ?? [],
    model: runInModel(cell, { cores: cpus, tickMs }),
  })
);
const report: CFSModelReport = {
  kernel: Deno.osRelease(),
  cgroups: factory.version,
  cpus,
  tickMs,
  repetitions,
  ...seen,
  cells: compared,
  passes: compared.every(({ passes }) => passes),
};
console.log(json ? JSON.stringify(report, undefined, 2) : cfsModelTable(report));
Deno.exit(report.passes ? 0 : 1);
