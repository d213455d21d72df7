/**
 * What the demo plays: the traces that come with the project, or the user's own.
 *
 * @module
 */
import { seededRandom } from "../shared/random.ts";
import type { ReportScene, TraceSource } from "../simulation/report/report_scene.ts";
import { createScene, type Scene } from "../simulation/scene.ts";
import type { Trace } from "../simulation/trace.ts";
import { readShippedTrace, readTraceFile } from "../simulation/trace_files.ts";
import { busiestWindow, withBursts } from "../simulation/trace_shape.ts";
import type { DemoOptions } from "./demo_options.ts";

/** A scene, and what people are told about it. */
export interface DemoScene {
  readonly scene: Scene;
  readonly report: ReportScene;
}

/** Of the traces with one value per minute the busiest stretch is played, s. */
const BUSIEST_S = 2 * 3600;
/** One pod in so many has bursts laid over its trace: published traces are smoothed. */
const BURSTS_EVERY = 4;
/** Mean time between two bursts, s. */
const BURST_GAP_S = 240;

const SOURCES: readonly TraceSource[] = [
  {
    name: "diurnal, bursty: requests per second, 1 s",
    source: "https://github.com/microsoft/autothrottle, traces/",
    licence: "MIT",
  },
  {
    name: "crane0 to crane5: CPU in production, 60 s, the busiest two hours",
    source: "https://github.com/gocrane/crane, pkg/prediction/dsp/test_data/",
    licence: "Apache-2.0",
  },
];

/** Reads the traces and makes the scene. Throws a SyntaxError or the system's error for a file. */
export async function readDemoScene(options: DemoOptions): Promise<DemoScene> {
  const { seed, minutes, pods, trace } = options;
  const traces = trace === undefined ? await shippedTraces() : [await ownTrace(trace)];
  const random = seededRandom(seed);
  const bursty = traces.map((one) => withBursts(one, { random, everyS: BURST_GAP_S }));
  const dealt = Array.from({ length: pods }, (_, index) => {
    const from = index % BURSTS_EVERY === BURSTS_EVERY - 1 ? bursty : traces;
    return from[index % from.length] as Trace;
  });
  const scene = createScene({ seed, minutes, pods, traces: dealt });
  const sources = trace === undefined
    ? SOURCES
    : [{ name: trace.path, source: "your own file", licence: "as you hold it" }];
  return {
    scene,
    report: { description: describe(scene), traces: sources, command: again(options) },
  };
}

async function ownTrace({ path, format }: NonNullable<DemoOptions["trace"]>): Promise<Trace> {
  const trace = await readTraceFile(path, format);
  if (trace.values.some((value) => value > 0)) return trace;
  throw new SyntaxError(`Cannot read trace "${path}": every value in it is 0, expected some load`);
}

/** The two request traces and the six of CPU in turn, so that each third of the pods has one kind. */
async function shippedTraces(): Promise<Trace[]> {
  const [diurnal, bursty] = await Promise.all(["diurnal", "bursty"].map(readShippedTrace));
  const crane = await Promise.all([0, 1, 2, 3, 4, 5].map((n) => readShippedTrace(`crane${n}`)));
  if (diurnal === undefined || bursty === undefined) throw new Error("Cannot read the traces");
  return crane.flatMap((trace) => [diurnal, bursty, busiestWindow(trace, BUSIEST_S)]);
}

function describe({ pods, cores, minutes }: Scene): string {
  return `${pods.length} pods on a node of ${cores} cores for ${minutes} minutes. Each pod plays a ` +
    "stretch of a trace that begins at a drawn place, scaled so that all together use 40 % of the " +
    "node; every fourth has bursts of ten seconds at four times its load laid over it. Pods differ " +
    "in size; requests miss what is needed by a drawn factor (standard deviation 50 %), own limits " +
    "are twice the request, and every fourth pod has twice the weight. Requests cost 8 ms of CPU on " +
    "average (log-normal), at most eight at once per pod.";
}

function again({ seed, minutes, pods, trace }: DemoOptions): string {
  const load = trace === undefined ? "" : ` --trace ${trace.path}`;
  return `deno task demo --seed ${seed} --minutes ${minutes} --pods ${pods}${load}`;
}
