/**
 * What the leader's loop remembers of shortages, for the webhook beside it.
 *
 * @module
 */
import type { Clock } from "../../shared/clock.ts";
import { shortagePhase } from "../../shared/placement/shortage.ts";
import type { PlacementBook } from "./placement_book.ts";
import type { ShortageOf } from "./webhook_ports.ts";

/** The shortages. */
export interface KnownShortages {
  readonly shortageOf: ShortageOf;
  /** From now on this is what is remembered. */
  follow(book: Pick<PlacementBook, "memoryOf">): void;
}

/** Nothing is known yet: nobody is asked to place pods before. */
export function createKnownShortages(clock: Pick<Clock, "wall">): KnownShortages {
  let book: Pick<PlacementBook, "memoryOf"> | undefined;
  return {
    shortageOf({ kind, namespace, name, uid }) {
      const nowMs = clock.wall();
      const memory = book?.memoryOf({ kind, metadata: { namespace, name, uid } }, nowMs);
      return shortagePhase(memory?.shortage, nowMs);
    },
    follow: (present) => void (book = present),
  };
}
