/**
 * What every port of the simulated API is made from.
 *
 * @module
 */
import type { Clock } from "../../shared/clock.ts";
import type { ObjectStore } from "./object_store.ts";
import type { RequestGate } from "./request_gate.ts";

/** What all watches share. */
export interface Streams {
  /** Calls `wake` after each write, outage and closing, until the returned function is called. */
  onEvent(wake: () => void): () => void;
  /** Grows when the server closes its streams in an orderly way. */
  closings(): number;
  /** Time without an event after which a watch gets a bookmark, ms. */
  readonly bookmarkMs: number;
}

/** The objects and the way to them. */
export interface ApiAccess {
  readonly store: ObjectStore;
  readonly gate: RequestGate;
  readonly clock: Clock;
  readonly streams: Streams;
}
