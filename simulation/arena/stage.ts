/**
 * What algorithms compete on: a trace or a made-up scene, as plain data that can be sent to a worker.
 *
 * @module
 */
import type { Trace } from "../trace.ts";
import type { TraceFormat } from "../trace_format.ts";
import type { ArenaScene, MadeSceneOptions } from "./arena_scene.ts";
import { burstScene } from "./burst_scene.ts";
import { SERVICE_SCENES, type ServiceSceneName } from "./service_scenes.ts";
import { SHARED_NODE_SCENES, type SharedNodeSceneName } from "./shared_node_scenes.ts";
import { shareRequests } from "./shared_requests.ts";
import { stepScene } from "./step_scene.ts";
import { traceScene } from "./trace_scene.ts";

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

/** Constant load with bursts of four times as much. */
export interface BurstStage {
  readonly kind: "bursts";
  readonly name: string;
  /** CPUs between bursts. */
  readonly cores: number;
  readonly minutes: number;
}

/** A load that changes its level for good. */
export interface StepStage {
  readonly kind: "steps";
  readonly name: string;
  readonly minutes: number;
}

/** Several pods on a node that is short. */
export interface SharedNodeStage {
  readonly kind: "shared node";
  readonly name: SharedNodeSceneName;
  readonly minutes: number;
}

/** Services on a node that has CPU to spare, or lacks it only for a part of the run. */
export interface ServiceStage {
  readonly kind: "services";
  readonly name: ServiceSceneName;
  readonly minutes: number;
}

/** What algorithms compete on. */
export type Stage = TraceStage | BurstStage | StepStage | SharedNodeStage | ServiceStage;

/** Whether some pods of the stage are victims of a neighbour. */
export function hasVictims(stage: Stage): boolean {
  return stage.kind !== "trace" &&
    makeScene(stage, { seed: 1, minutes: 1 }).scene.contention !== undefined;
}

/** The scene of a stage for a seed; its requests are drawn once. */
export function buildStage(stage: Stage, seed: number): ArenaScene {
  const made = makeScene(stage, { seed, minutes: stage.minutes });
  return { ...made, scene: shareRequests(made.scene) };
}

function makeScene(stage: Stage, options: MadeSceneOptions): ArenaScene {
  switch (stage.kind) {
    case "trace": {
      const { trace, p95Cores } = stage;
      const scale = p95Cores === undefined ? {} : { p95Cores };
      return { scene: traceScene(trace, { ...options, ...scale }) };
    }
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
