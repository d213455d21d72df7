/**
 * What the arena plays when nothing else is asked for.
 *
 * @module
 */
import { expectedDemand } from "../expected_demand.ts";
import { mean } from "../mean.ts";
import type { Trace } from "../trace.ts";
import type { TraceFormat } from "../trace_format.ts";
import { readShippedTrace } from "../trace_files.ts";
import { busiestWindow, wholeMinutes } from "../trace_shape.ts";
import { SERVICE_SCENES, type ServiceSceneName } from "./service_scenes.ts";
import { SHARED_NODE_SCENES, type SharedNodeSceneName } from "./shared_node_scenes.ts";
import type { Stage, TraceStage } from "./stage.ts";
import { traceScene } from "./trace_scene.ts";

/** How long scenes and traces are played. */
export interface StageLengths {
  /** Virtual minutes; of a longer trace the busiest ones are played. */
  readonly minutes?: number;
  /** Fewer and shorter ones. @default {false} */
  readonly quick?: boolean;
}

/** Of longer traces the busiest stretch of this length is played, min. */
const LONGEST_MINUTES = 120;
const QUICK_MINUTES = 15;
/** 95th percentile of traces with a unit that is unknown or says nothing of CPU, CPUs. */
const P95_CORES = 2;

/** Traces that come with the project; request rates are played as requests of 8 ms of CPU. */
const TRACES: readonly { name: string; format: TraceFormat; p95Cores?: number }[] = [
  { name: "diurnal", format: "rps" },
  { name: "bursty", format: "rps" },
  ...[0, 1, 2, 3, 4, 5].map((number) => ({
    name: `crane${number}`,
    format: "cores" as const,
    p95Cores: P95_CORES,
  })),
  { name: "azure-code", format: "arrivals", p95Cores: P95_CORES },
];
const QUICK_TRACES: readonly string[] = ["bursty", "crane0", "azure-code"];

const BURST_CORES: readonly number[] = [0.25, 1, 2];
const BURST_MINUTES = 30;
const STEP_MINUTES = 50;
const SHARED_NODE_MINUTES = 8;
const QUICK_BURST_CORES: readonly number[] = [1];
const QUICK_STEP_MINUTES = 25;
const QUICK_SHARED_NODE: readonly SharedNodeSceneName[] = ["eight-equal"];
const QUICK_SERVICES: readonly ServiceSceneName[] = ["chain"];
const QUICK_SHARED_NODE_MINUTES = 4;

/** How much is played of a trace at most, min. */
export function mostMinutes({ minutes, quick = false }: StageLengths): number {
  return minutes ?? (quick ? QUICK_MINUTES : LONGEST_MINUTES);
}

/** The traces of the project. Throws the system's error when one can't be read. */
export function shippedStages(lengths: StageLengths): Promise<TraceStage[]> {
  const names = TRACES.filter(({ name }) => !lengths.quick || QUICK_TRACES.includes(name));
  const minutes = mostMinutes(lengths);
  return Promise.all(
    names.map(async ({ name, ...rest }) =>
      traceStage(await readShippedTrace(name), { name, ...rest, minutes })
    ),
  );
}

/** The stage of a trace: its busiest stretch of at most so many minutes. */
export function traceStage(
  trace: Trace,
  options: Pick<TraceStage, "name" | "format" | "minutes"> & {
    readonly p95Cores?: number | undefined;
  },
): TraceStage {
  const { name, format, p95Cores } = options;
  const played = busiestWindow(trace, Math.max(trace.stepS, options.minutes * 60));
  const minutes = wholeMinutes(
    played,
    (state) => new RangeError(`Cannot play trace "${name}": ${state}`),
  );
  const scale = p95Cores === undefined ? {} : { p95Cores };
  return { kind: "trace", name, format, trace: played, minutes, ...scale };
}

/** Mean load that is still played, CPUs: beyond it a run takes minutes and its requests much memory. */
const MOST_CORES = 16;

/**
 * As {@linkcode traceStage}, for a trace of the user's own. Throws a RangeError for one that holds no
 * load, or more than can be played.
 */
export function playableStage(...args: Parameters<typeof traceStage>): TraceStage {
  const stage = traceStage(...args);
  const { trace, p95Cores, minutes, name } = stage;
  const [pod] = traceScene(trace, {
    seed: 1,
    ...(p95Cores === undefined ? {} : { p95Cores }),
  }).pods;
  const load = pod === undefined ? 0 : mean(expectedDemand(pod.workload(), minutes * 60));
  if (load <= MOST_CORES) return stage;
  throw new RangeError(
    `Cannot play trace "${name}": its mean load is ${Math.round(load)} CPUs, expected at most ` +
      `${MOST_CORES}; scale it with --scale-p95`,
  );
}

/** Bursts, steps, nodes that are short, and services. */
export function sceneStages({ minutes, quick = false }: StageLengths): Stage[] {
  const atMost = (usual: number) => Math.min(usual, minutes ?? usual);
  const shared = Object.keys(SHARED_NODE_SCENES) as SharedNodeSceneName[];
  const services = Object.keys(SERVICE_SCENES) as ServiceSceneName[];
  return [
    ...(quick ? QUICK_BURST_CORES : BURST_CORES).map((cores): Stage => ({
      kind: "bursts",
      name: `bursts-${cores}`,
      cores,
      minutes: atMost(quick ? QUICK_MINUTES : BURST_MINUTES),
    })),
    { kind: "steps", name: "steps", minutes: atMost(quick ? QUICK_STEP_MINUTES : STEP_MINUTES) },
    ...(quick ? QUICK_SHARED_NODE : shared).map((name): Stage => ({
      kind: "shared node",
      name,
      minutes: atMost(quick ? QUICK_SHARED_NODE_MINUTES : SHARED_NODE_MINUTES),
    })),
    ...(quick ? QUICK_SERVICES : services).map((name): Stage => ({
      kind: "services",
      name,
      minutes: atMost(quick ? QUICK_SHARED_NODE_MINUTES : SHARED_NODE_MINUTES),
    })),
  ];
}
