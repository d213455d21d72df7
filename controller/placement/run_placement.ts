/**
 * Placement from what it remembers to its end, again and again.
 *
 * @module
 */
import { createBackoff } from "../../shared/control/backoff.ts";
import type { PlacementAPI } from "./connect_placement.ts";
import { createPlacementBook, type PlacementBook } from "./placement_book.ts";
import { type PlacementLoopParts, runPlacementLoop } from "./placement_loop.ts";

/** What placement runs with. Somebody else runs the copies. */
export interface PlacementParts
  extends Pick<PlacementLoopParts, "caches" | "config" | "clock" | "log" | "observer" | "evicted"> {
  readonly api: Omit<PlacementAPI, "sources">;
  /** Hears what is remembered, at each beginning; nothing is looked at before it has resolved. */
  readonly remembers?: (book: PlacementBook) => Promise<void>;
}

const LONGEST_WAIT_MS = 300_000;

/**
 * Runs until `signal` is aborted, and begins anew after a failure: neither the market nor rightsizing
 * must end with it. What was remembered is read each time.
 */
export async function keepPlacement(
  { api, remembers, ...parts }: PlacementParts,
  signal: AbortSignal,
): Promise<void> {
  const { clock, log } = parts;
  const backoff = createBackoff({ minMs: 10_000, maxMs: LONGEST_WAIT_MS });
  while (!signal.aborted) {
    try {
      const book = createPlacementBook({ store: api.store, clock, log });
      if (!await book.load(signal)) return;
      await remembers?.(book);
      await runPlacementLoop({ ...parts, ...api, book }, signal);
    } catch (error) {
      const waitMs = backoff.next("placement", error);
      log.error("Placement failed, and begins anew", { error: String(error), waitMs });
      await clock.sleep(waitMs, signal);
    }
  }
}
