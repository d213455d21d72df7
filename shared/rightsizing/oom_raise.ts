/**
 * What a container that was killed for lack of memory should have.
 *
 * @module
 */
import { amountText } from "./amount_text.ts";
import type { Estimator } from "./estimator.ts";
import { truncatedProduct } from "./truncated_product.ts";

/** A kill for lack of memory within the window; older ones are the caller's to forget. */
export interface OOMKill {
  /** Bytes that the container had: its memory limit at that time, or what it requested, 0 if nothing. */
  readonly hadBytes: number;
  /**
   * True where no limit bound it: the node was short. It had what it used then, which is not known; the
   * largest sample stands for that.
   */
  readonly unlimited?: true;
}

const MEBI = 2 ** 20;
/** Raised by as much at least, so that small containers do not take many kills to grow. */
const LEAST_RAISE_BYTES = 100 * MEBI;
const RAISE_FACTOR = 1.2;

/** Bytes after a kill: max(20 %, 100Mi) over what it had. 256Mi becomes 356Mi, 1024Mi 1228.8Mi. */
export function raisedAfterOOM({ hadBytes }: Pick<OOMKill, "hadBytes">): number {
  return Math.max(truncatedProduct(hadBytes, RAISE_FACTOR), hadBytes + LEAST_RAISE_BYTES);
}

/** What is raised to so many bytes, rounded down; 0 or less: nothing is. 356Mi comes from 256Mi. */
export function bytesBeforeOOM(raised: number): number {
  return Math.floor(Math.min(raised / RAISE_FACTOR, raised - LEAST_RAISE_BYTES));
}

/**
 * The base, or what is over what the container had when it was killed, if that is more. Samples never
 * show what was missing: none is taken at the moment of a kill, and none can be above the limit. Belongs
 * around the safety factor (the raise is one itself) and inside of the bounds.
 */
export function withOOMRaise(base: Estimator, kills: readonly OOMKill[]): Estimator {
  if (kills.length === 0) return base;
  return (usage) => {
    const estimate = base(usage);
    const used = usage.count === 0 ? 0 : usage.max;
    const had = Math.max(
      ...kills.map(({ hadBytes, unlimited = false }) =>
        unlimited ? Math.max(hadBytes, used) : hadBytes
      ),
    );
    const raised = had === 0 ? 0 : raisedAfterOOM({ hadBytes: had });
    if (estimate.amount >= raised) return estimate;
    const told = `killed for lack of memory at ${amountText("memory", had)}, so raised to ${
      amountText("memory", raised)
    }`;
    return { amount: raised, told: [...estimate.told, told] };
  };
}
