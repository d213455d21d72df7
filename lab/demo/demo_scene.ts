/**
 * The flags of the demo, and the scene that they ask for: traces that come with the project, or the
 * user's own.
 *
 * @module
 */
import { seededRandom } from "../../shared/random.ts";
import { formatCount } from "../simulation/report/figure.ts";
import { ownSource, type ReportScene, traceSources } from "../simulation/report/method_note.ts";
import { createScene, type Scene, withGiveUp } from "../simulation/scene.ts";
import { type Trace, traceRefusal } from "../simulation/trace.ts";
import { readShippedTrace, readTraceFile, type TraceFile } from "../simulation/trace_files.ts";
import { busiestWindow, requireLoad, withBursts } from "../simulation/trace_shape.ts";
import { Command } from "commander";
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

/** The flags of the demo. */
export interface DemoOptions extends TaskFlags, TraceFlags {
  /** An integer of at most 31 bits and a sign. */
  readonly seed: number;
  /** Virtual minutes, 1 to 240. */
  readonly minutes: number;
  /** Pods on the node, 1 to 200. */
  readonly pods: number;
  /** Clients give up so many seconds after a request; 0: never. */
  readonly giveUp: number;
  /** Print one JSON object in place of the table. */
  readonly json: boolean;
}

/** Seeds of the parts are made from it; they stay exact integers. */
const MOST_SEED = 2 ** 31 - 1;
const MOST_MINUTES = 240;
const MOST_PODS = 200;

/** Reads the arguments after the program's name. Never throws: a mistake is a value. */
export function parseDemoOptions(args: readonly string[]): TaskArguments<DemoOptions> {
  const read = parseTaskFlags<DemoOptions>(demoCommand(), args);
  const problem = read.kind === "flags" ? missingTrace(read.flags) : undefined;
  return problem === undefined ? read : usageError("demo", problem);
}

function demoCommand(): Command {
  const command = new Command("demo")
    .usage("[options]")
    .description(
      "Runs the market and static limits over the same load on a simulated node, in virtual\n" +
        "time, and shows what each did to the pods.",
    )
    .option(
      "--seed <integer>",
      "seed of all chance; the same seed gives the same figures",
      numberWithin({ min: -MOST_SEED, max: MOST_SEED, whole: true }),
      1,
    )
    .option(
      "--minutes <count>",
      `virtual minutes, 1 to ${MOST_MINUTES}`,
      numberWithin({ min: 1, max: MOST_MINUTES, whole: true }),
      30,
    )
    .option(
      "--pods <count>",
      `pods on the node, 1 to ${MOST_PODS}`,
      numberWithin({ min: 1, max: MOST_PODS, whole: true }),
      20,
    )
    .addOption(giveUpOption());
  return addTraceFlags(command)
    .option("--json", "print one JSON object in place of the table", false)
    .option("--report <path>", "where to write the report page", filePath, "report.html")
    .option("--no-report", "write no report page")
    .helpOption("-h, --help", "show this text")
    .addHelpText("after", `\nFormats of a trace:\n${FORMAT_HELP}`);
}

/** A scene, and its description. */
export interface DemoScene {
  readonly scene: Scene;
  readonly report: ReportScene;
  /** The format and unit that the user's trace was taken for, where no flag gives them. */
  readonly guess?: string;
}

const CRANE: readonly string[] = [0, 1, 2, 3, 4, 5].map((number) => `crane${number}`);
const NAMES: readonly string[] = ["diurnal", "bursty", ...CRANE];
/** Seconds of the busiest stretch, which is played of each trace with one value per minute. */
const BUSIEST_S = 2 * 3600;
const CRANE_SENTENCE = "Stretches of crane0 to crane5 are from the busiest two hours of each.";
/** One pod in so many has bursts laid over its trace: published traces are smoothed. */
const BURSTS_EVERY = 4;
/** Mean time between two bursts, s. */
const BURST_GAP_S = 240;

/** Reads the traces and makes the scene. Throws a SyntaxError or the system's error for a file. */
export async function readDemoScene(options: Omit<DemoOptions, "report">): Promise<DemoScene> {
  const { seed, minutes, pods, giveUp, trace } = options;
  const file = trace === undefined ? undefined : await readUserTrace(trace, options.format);
  const traces = file === undefined ? await shippedTraces() : [file.trace];
  const random = seededRandom(seed);
  const bursty = traces.map((one) => withBursts(one, { random, everyS: BURST_GAP_S }));
  const podTraces = Array.from({ length: pods }, (_, index) => {
    const from = index % BURSTS_EVERY === BURSTS_EVERY - 1 ? bursty : traces;
    return from[index % from.length] as Trace;
  });
  const base = createScene({ seed, minutes, pods, traces: podTraces });
  const scene = withGiveUp(base, giveUp);
  const text = trace === undefined
    ? { description: `${describe(scene, giveUp)} ${CRANE_SENTENCE}`, traces: traceSources(NAMES) }
    : { description: describe(scene, giveUp), traces: [ownSource(trace)] };
  return {
    scene,
    report: { ...text, command: commandOf(options) },
    ...(file?.guess === undefined ? {} : { guess: file.guess }),
  };
}

async function readUserTrace(path: string, format: DemoOptions["format"]): Promise<TraceFile> {
  const file = await readTraceFile(path, format);
  requireLoad(file.trace, traceRefusal({ format: file.format, name: path }));
  return file;
}

/** The two request traces and the six of CPU in turn, so that each third of the pods has one kind. */
async function shippedTraces(): Promise<Trace[]> {
  const [diurnal, bursty, ...crane] = await Promise.all(NAMES.map(readShippedTrace));
  if (diurnal === undefined || bursty === undefined) throw new Error("Cannot read the traces");
  return crane.flatMap((trace) => [diurnal, bursty, busiestWindow(trace, BUSIEST_S)]);
}

function describe({ pods, cores, minutes }: Scene, giveUp: number): string {
  return `${formatCount(pods.length, "pod")} on a node of ${cores} cores for ${
    formatCount(minutes, "minute")
  }. Each pod plays a ` +
    "stretch of a trace that begins at a drawn place, scaled so that all together use 40 % of the " +
    "node; every fourth has bursts of ten seconds at four times its load laid over it. Pods differ " +
    "in size; requests miss what is needed by a drawn factor (standard deviation 50 %), limits " +
    "are twice the request, and every fourth pod has twice the weight. Requests cost 8 ms of CPU on " +
    "average (log-normal), at most eight at once per pod. " +
    (giveUp === 0
      ? "Clients wait for as long as it takes."
      : `Clients give up ${formatCount(giveUp, "second")} after their request.`);
}

function commandOf({ seed, minutes, pods, giveUp, trace }: Omit<DemoOptions, "report">): string {
  const load = trace === undefined ? "" : ` --trace ${trace}`;
  return `deno task demo --seed ${seed} --minutes ${minutes} --pods ${pods} --give-up ${giveUp}${load}`;
}
