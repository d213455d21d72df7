/**
 * Stages: scenes that are scored together.
 *
 * @module
 */
import type { Trace, TraceFormat } from "../simulation/trace.ts";
import {
  SERVICE_SCENES,
  type ServiceSceneName,
  SHARED_NODE_SCENES,
  type SharedNodeSceneName,
  shareRequests,
} from "./shared_node_scenes.ts";
import {
  type ArenaScene,
  burstScene,
  type MadeSceneOptions,
  stepScene,
  traceScene,
} from "./trace_scene.ts";
import { withGiveUp } from "../simulation/scene.ts";
import type { RunRecord } from "../simulation/run_record.ts";
import type { AlgorithmOutcome } from "./outcome.ts";
import { expectedDemand } from "../simulation/workload.ts";
import { mean } from "../simulation/statistics.ts";
import { readShippedTrace } from "../simulation/trace_files.ts";
import { busiestWindow, wholeMinutes } from "../simulation/trace_shape.ts";

/** A trace to be played by one service. */
export interface TraceStage {
  readonly kind: "trace";
  readonly name: string;
  readonly format: TraceFormat;
  readonly trace: Trace;
  /** The trace is scaled so that its 95th percentile is this many CPUs. */
  readonly p95Cores?: number;
  readonly minutes: number;
}

/** A load on which algorithms compete. */
export type Stage =
  | TraceStage
  | { readonly minutes: number }
    & (
      /** Constant load with bursts of four times as much; `cores` are CPUs between bursts. */
      | { readonly kind: "bursts"; readonly name: string; readonly cores: number }
      /** A load that changes its level for good. */
      | { readonly kind: "steps"; readonly name: string }
      /** Several pods on a node that is short. */
      | { readonly kind: "shared node"; readonly name: SharedNodeSceneName }
      /** Services on a node that has CPU to spare, or lacks it only for a part of the run. */
      | { readonly kind: "services"; readonly name: ServiceSceneName }
    );

/** Whether some pods of the stage are victims of a neighbour. */
export function hasVictims(stage: Stage): boolean {
  return stage.kind !== "trace" &&
    makeScene(stage, { seed: 1, minutes: 1 }).scene.contention !== undefined;
}

/** The scene of a stage for a seed; its requests are drawn once. */
export function buildStage(
  stage: Stage,
  { seed, giveUp }: { readonly seed: number; readonly giveUp: number },
): ArenaScene {
  const made = makeScene(stage, { seed, minutes: stage.minutes });
  return { ...made, giveUp, scene: withGiveUp(shareRequests(made.scene), giveUp) };
}

function makeScene(stage: Stage, options: MadeSceneOptions): ArenaScene {
  switch (stage.kind) {
    case "trace":
      return { scene: traceScene(stage.trace, { ...options, p95Cores: stage.p95Cores }) };
    case "bursts":
      return burstScene(stage.cores, options);
    case "steps":
      return stepScene(options);
    case "shared node":
      return { scene: SHARED_NODE_SCENES[stage.name](options) };
    case "services":
      return SERVICE_SCENES[stage.name](options);
  }
}

/** The outcome of all entries on a stage. */
export interface StageResult {
  readonly kind: Stage["kind"];
  readonly name: string;
  /** The format of a trace; absent for other stages. */
  readonly format?: TraceFormat;
  /** The 95th percentile of a trace that was scaled, CPUs. */
  readonly p95Cores?: number;
  /** Virtual minutes of each run. */
  readonly minutes: number;
  readonly seeds: number;
  /** Clients give up so long after a request, s; 0: never. */
  readonly giveUp: number;
  /** P99 latency that is to be held, ms; that of the victims where there are some. */
  readonly sloMs: number;
  /** Entry by entry, in the order in which algorithms were asked for. */
  readonly outcomes: readonly AlgorithmOutcome[];
  /**
   * Series of the first seed, as means of 1 s: of the best setting of each algorithm. `algorithm` and
   * `description` are algorithm and setting. Empty when series were not kept.
   */
  readonly records: readonly RunRecord[];
}

/** How long scenes and traces are played. */
export interface StageLengths {
  /** Virtual minutes; of a longer trace the busiest ones are played. */
  readonly minutes?: number | undefined;
  /** Fewer and shorter ones. @default {false} */
  readonly quick?: boolean;
}

/** Minutes of the busiest stretch that is played of longer traces. */
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
  const [pod] = traceScene(trace, { seed: 1, p95Cores }).pods;
  const load = pod === undefined ? 0 : mean(expectedDemand(pod.workload(), minutes * 60));
  if (load <= MOST_CORES) return stage;
  throw new RangeError(
    `Cannot play trace "${name}": its mean load is ${Math.round(load)} CPUs, expected at most ` +
      `${MOST_CORES}; scale it with --scale-p95`,
  );
}

/** Names of the project's traces and scenes. */
export function stageNames(): readonly string[] {
  return [...TRACES, ...sceneStages({})].map(({ name }) => name);
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
