/**
 * Pending timers, earliest first; equal times in the order of insertion.
 *
 * @module
 */

/** A callback and its time, ms. */
export interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

/** A queue of timers. Push and pop cost O(log n). */
export interface TimerHeap {
  /** Adds a timer and returns a function that removes it; calling that twice does no harm. */
  push(at: number, callback: () => void): () => void;
  /** Takes out the earliest timer if its time is at most `until`. */
  pop(until: number): Timer | undefined;
}

interface Entry extends Timer {
  readonly order: number;
  cancelled: boolean;
}

/** An empty queue. */
export function createTimerHeap(): TimerHeap {
  const heap: Entry[] = [];
  let inserted = 0;

  return {
    push(at, callback) {
      const entry: Entry = { at, callback, order: inserted++, cancelled: false };
      siftUp(heap, entry);
      return () => {
        // Left in place and skipped by pop: taking it out of the middle would cost O(n).
        entry.cancelled = true;
      };
    },
    pop(until) {
      for (let first = heap[0]; first && first.at <= until; first = heap[0]) {
        const last = heap.pop();
        if (last && last !== first) siftDown(heap, last);
        if (!first.cancelled) return first;
      }
      return undefined;
    },
  };
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

function siftUp(heap: Entry[], entry: Entry): void {
  let hole = heap.length;
  while (hole > 0) {
    const parentIndex = (hole - 1) >> 1;
    const parent = heap[parentIndex];
    if (parent === undefined || !isBefore(entry, parent)) break;
    heap[hole] = parent;
    hole = parentIndex;
  }
  heap[hole] = entry;
}

/** Puts `entry` where the first one was. */
function siftDown(heap: Entry[], entry: Entry): void {
  let hole = 0;
  for (;;) {
    const leftIndex = 2 * hole + 1;
    const left = heap[leftIndex];
    if (left === undefined) break;
    const right = heap[leftIndex + 1];
    const useRight = right !== undefined && isBefore(right, left);
    const child = useRight ? right : left;
    if (!isBefore(child, entry)) break;
    heap[hole] = child;
    hole = useRight ? leftIndex + 1 : leftIndex;
  }
  heap[hole] = entry;
}
