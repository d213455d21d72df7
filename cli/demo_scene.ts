/**
 * The traces that the demo plays: those that come with the project, or the user's own.
 *
 * @module
 */
import { seededRandom } from "../shared/random.ts";
import { formatCount } from "../lab/simulation/report/figure.ts";
import { ownSource, type ReportScene, traceSources } from "../lab/simulation/report/method_note.ts";
import { createScene, type Scene } from "../lab/simulation/scene.ts";
import { type Trace, traceRefusal } from "../lab/simulation/trace.ts";
import { readShippedTrace, readTraceFile, type TraceFile } from "../lab/simulation/trace_files.ts";
import { busiestWindow, requireLoad, withBursts } from "../lab/simulation/trace_shape.ts";
import type { DemoOptions } from "./demo_options.ts";

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
  const own = trace === undefined ? undefined : await ownTrace(trace, options.format);
  const traces = own === undefined ? await shippedTraces() : [own.trace];
  const random = seededRandom(seed);
  const bursty = traces.map((one) => withBursts(one, { random, everyS: BURST_GAP_S }));
  const dealt = Array.from({ length: pods }, (_, index) => {
    const from = index % BURSTS_EVERY === BURSTS_EVERY - 1 ? bursty : traces;
    return from[index % from.length] as Trace;
  });
  const made = createScene({ seed, minutes, pods, traces: dealt });
  const giveUpMs = giveUp === 0 ? Infinity : 1000 * giveUp;
  const scene = { ...made, pods: made.pods.map((pod) => ({ ...pod, giveUpMs })) };
  const text = trace === undefined
    ? { description: `${describe(scene, giveUp)} ${CRANE_SENTENCE}`, traces: traceSources(NAMES) }
    : { description: describe(scene, giveUp), traces: [ownSource(trace)] };
  return {
    scene,
    report: { ...text, command: again(options) },
    ...(own?.guess === undefined ? {} : { guess: own.guess }),
  };
}

async function ownTrace(path: string, format: DemoOptions["format"]): Promise<TraceFile> {
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

function again({ seed, minutes, pods, giveUp, trace }: Omit<DemoOptions, "report">): string {
  const load = trace === undefined ? "" : ` --trace ${trace}`;
  return `deno task demo --seed ${seed} --minutes ${minutes} --pods ${pods} --give-up ${giveUp}${load}`;
}
