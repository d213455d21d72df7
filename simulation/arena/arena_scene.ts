/**
 * A scene of the arena, with what is known of its load.
 *
 * @module
 */
import type { Scene } from "../scene.ts";
import type { KnownLoad } from "./arena_scores.ts";

/** What algorithms are played on, and what their runs are scored with. */
export interface ArenaScene extends KnownLoad {
  readonly scene: Scene;
}

/** How a made-up scene is made. */
export interface MadeSceneOptions {
  /** Varies arrivals, phases, and the moments of bursts and steps. */
  readonly seed: number;
  /** Whole virtual minutes. */
  readonly minutes: number;
}
