/**
 * The rhythm in which scenes are played and progress is reported.
 *
 * @module
 */

/** Called from time to time with the progress of the run, in seconds of virtual time. */
export type OnProgress = (doneS: number) => void;

/** CFS periods are the resolution of a record, ms. */
export const PLAY_STEP_MS = 100;
/** How often progress is reported, ms of virtual time. */
const PROGRESS_MS = 10_000;

/** Reports progress at `atMs` of virtual time, if it is time for it. */
export function reportProgress(atMs: number, onProgress: OnProgress | undefined): void {
  if (atMs % PROGRESS_MS === 0) onProgress?.(atMs / 1000);
}
