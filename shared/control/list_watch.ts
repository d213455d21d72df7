/**
 * The port through which a loop learns the state of one kind of objects: list once, then watch.
 *
 * @module
 */
import type { ApiObject } from "../api/object.ts";

/** One message of a watch. */
export type WatchEvent<T> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: T }
  | { readonly type: "BOOKMARK"; readonly resourceVersion: string };

/** A list as of one resource version. */
export interface ObjectList<T> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
}

/** List-watch of one kind, already narrowed by selectors. */
export interface ListWatch<T extends ApiObject> {
  /** All objects now. Throws an `ApiError` when the server refuses or can't be reached. */
  list(signal: AbortSignal): Promise<ObjectList<T>>;
  /**
   * Changes after `resourceVersion`, until the server closes the stream or `signal` is aborted.
   * Throws an `ApiError` with status 410 when that version is too old: list again.
   */
  watch(resourceVersion: string, signal: AbortSignal): AsyncIterable<WatchEvent<T>>;
}
