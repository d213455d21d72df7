/**
 * Parses the flags of the arena. Pure.
 *
 * @module
 */
import { Command, InvalidArgumentError } from "commander";
import { algorithmNames, ENTRIES } from "./outcome.ts";
import {
  addTraceFlags,
  filePath,
  FORMAT_HELP,
  giveUpOption,
  missingTrace,
  numberWithin,
  parseTaskFlags,
  type TaskArguments,
  type TraceFlags,
  usageError,
} from "../task/task_flags.ts";
import type { TaskFlags } from "../task/task.ts";
import { stageNames } from "./stages.ts";

/** The flags of one run of the arena. */
export interface ArenaOptions extends TaskFlags, TraceFlags {
  /** CPUs to which its 95th percentile is scaled. */
  readonly scaleP95?: number;
  /** Names of algorithms; `coallocator` and `oracle` are among them. */
  readonly algorithms: readonly string[];
  /** Names of the project's traces and scenes to play; all without it. */
  readonly scenes?: readonly string[];
  readonly seeds: number;
  /** Clients give up so long after a request, s; 0: never. */
  readonly giveUp: number;
  /** P99 latency to be held, ms; without it, made from that without any limit. */
  readonly sloMs?: number;
  /** The busiest virtual minutes that are played at most. */
  readonly minutes?: number;
  readonly quick: boolean;
  readonly json: boolean;
}

const MOST_SEEDS = 100;
const MOST_MINUTES = 240;
const MOST_SLO_MS = 600_000;
const MOST_CORES = 16;
const DEFAULT_SEEDS = 5;
const QUICK_SEEDS = 2;
const DEFAULT_REPORT = "arena.html";

/** Reads the arguments after the program's name. Never throws: a mistake is a value. */
export function parseArenaOptions(args: readonly string[]): TaskArguments<ArenaOptions> {
  const read = parseTaskFlags<
    Partial<ArenaOptions> & Pick<ArenaOptions, "quick" | "json" | "giveUp">
  >(
    arenaCommand(),
    args,
  );
  if (read.kind !== "flags") return read;
  const { flags } = read;
  const { quick, json } = flags;
  const problem = missingTrace(flags) ??
    (flags.trace !== undefined && flags.scenes !== undefined
      ? "--scenes names scenes of the project: leave out --trace or --scenes"
      : sloBeyondGiveUp(flags));
  if (problem !== undefined) return usageError("arena", problem);
  const defaults = {
    algorithms: algorithmNames(),
    seeds: quick ? QUICK_SEEDS : DEFAULT_SEEDS,
    // JSON is read by programs, which do not expect a new file.
    report: json ? false as const : DEFAULT_REPORT,
  };
  return { kind: "flags", flags: { ...defaults, ...flags } };
}

/** An SLO that every algorithm holds, since no request waits longer. */
function sloBeyondGiveUp(
  { sloMs = 0, giveUp }: Partial<ArenaOptions> & Pick<ArenaOptions, "giveUp">,
): string | undefined {
  return giveUp === 0 || sloMs < 1000 * giveUp
    ? undefined
    : `--slo-ms ${sloMs} is not below --give-up ${giveUp}, in seconds: raise --give-up, or set it to 0`;
}

function arenaCommand(): Command {
  const command = new Command("arena")
    .usage("[options]")
    .description(
      "Replays traces under other control algorithms and CoAllocator, in virtual time on the same simulated\n" +
        "node, and shows what each allocated and how long requests took.",
    );
  return addTraceFlags(command)
    .option("--scale-p95 <cores>", "scale its 95th percentile to so many CPUs", cores)
    .option("--algorithms <names>", "algorithms to play, separated by commas", knownAlgorithms)
    .option("--scenes <names>", "traces and scenes to play, separated by commas", knownScenes)
    .option(
      "--seeds <count>",
      `play with seeds 1 to this; default ${DEFAULT_SEEDS}, with --quick ${QUICK_SEEDS}`,
      numberWithin({ min: 1, max: MOST_SEEDS, whole: true }),
    )
    .option(
      "--slo-ms <ms>",
      "P99 latency to hold",
      numberWithin({ min: 1, max: MOST_SLO_MS, whole: true }),
    )
    .addOption(giveUpOption())
    .option(
      "--minutes <count>",
      "play at most the busiest minutes of each trace",
      numberWithin({ min: 1, max: MOST_MINUTES, whole: true }),
    )
    .option("--quick", "fewer and shorter, two seeds; half a minute", false)
    .option("--json", "print one JSON object in place of tables", false)
    .option(
      "--report <path>",
      `where to write the report page; default ${DEFAULT_REPORT}, with --json none`,
      filePath,
    )
    .option("--no-report", "write no report page")
    .helpOption("-h, --help", "show this text")
    .addHelpText("after", HELP);
}

const HELP = `
Algorithms: ${algorithmNames().join(", ")}
Scenes: ${stageNames().join(", ")}

The SLO is the P99 latency without any limit + 100 ms (one CFS period), the median over the seeds in
whole ms, unless --slo-ms gives another; beside a noisy neighbour that of its victims, made from theirs
alone. Of each algorithm the setting with the fewest cores
that holds it is shown; --json prints all. ${ENTRIES.coallocator.algorithm} has one, where limits are at their
ceilings while CPU is free, and plays a second time as ${ENTRIES.tight.algorithm}: ${ENTRIES.tight.setting}.

Without --trace: the busiest 2 hours of all traces of the project, and scenes of bursts, steps,
nodes that are short, and services on a node that is not; on nodes of 100 pods coallocator alone. Requests
of diurnal, bursty and a trace in rps cost 8 ms of CPU. The unit of crane0 to crane5 is not known and azure-code
says nothing of CPU: their 95th percentile is scaled to 2 CPUs.
--quick plays bursty, crane0 and azure-code for 15 minutes each and four scenes, of --trace its
busiest 15 minutes, with ${QUICK_SEEDS} seeds.

Formats of a trace:
${FORMAT_HELP}`;

function cores(value: string): number {
  const number = /^\d+(\.\d+)?$/.test(value) ? Number(value) : NaN;
  if (number > 0 && number <= MOST_CORES) return number;
  throw new InvalidArgumentError(`Give a number of CPUs above 0 and up to ${MOST_CORES}`);
}

const knownAlgorithms = (value: string): string[] =>
  knownNames(value, { known: algorithmNames(), noun: "algorithm" });

const knownScenes = (value: string): string[] =>
  knownNames(value, { known: stageNames(), noun: "scene" });

function knownNames(
  value: string,
  { known, noun }: { readonly known: readonly string[]; readonly noun: string },
): string[] {
  const names = value.split(",").map((name) => name.trim());
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return known.filter((name) => names.includes(name));
  throw new InvalidArgumentError(`No ${noun} is named '${unknown}', only ${known.join(", ")}`);
}
