/**
 * A bounded queue between those who report and the one who sends.
 *
 * @module
 */

/** Holds what waits to be sent. */
export interface NoteQueue<T> {
  /** Adds at the end; when the queue is full the first is lost. */
  put(note: T): void;
  /** Takes the first, when there is one; undefined once `signal` is aborted. One taker at a time. */
  take(signal: AbortSignal): Promise<T | undefined>;
  /** How many were lost so far. */
  readonly lost: number;
}

/** An empty queue for at most `capacity`. */
export function createNoteQueue<T>(capacity: number): NoteQueue<T> {
  const notes: T[] = [];
  let wake: () => void = () => {};
  let lost = 0;
  return {
    put(note) {
      notes.push(note);
      if (notes.length > capacity) {
        notes.shift();
        lost++;
      }
      wake();
    },
    async take(signal) {
      while (!signal.aborted) {
        const note = notes.shift();
        if (note !== undefined) return note;
        await new Promise<void>((resolve) => {
          wake = () => {
            signal.removeEventListener("abort", wake);
            resolve();
          };
          signal.addEventListener("abort", wake, { once: true });
        });
      }
      return undefined;
    },
    get lost() {
      return lost;
    },
  };
}
