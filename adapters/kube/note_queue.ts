/**
 * A bounded queue between those who report and the one who sends.
 *
 * @module
 */

/** Holds what waits to be sent. */
export interface NoteQueue<T> {
  /**
   * Adds at the end, or behind the urgent ones. When the queue is full the first is lost that is not
   * urgent, where there is one.
   */
  put(note: T, how?: { readonly urgent: boolean }): void;
  /** Takes the first, urgent ones before others; undefined once `signal` is aborted. One at a time. */
  take(signal: AbortSignal): Promise<T | undefined>;
  /** How many were lost so far. */
  readonly lost: number;
}

/** An empty queue for at most `capacity`. */
export function createNoteQueue<T>(capacity: number): NoteQueue<T> {
  const urgentNotes: T[] = [];
  const notes: T[] = [];
  let wake: () => void = () => {};
  let lost = 0;
  return {
    put(note, { urgent } = { urgent: false }) {
      (urgent ? urgentNotes : notes).push(note);
      if (urgentNotes.length + notes.length > capacity) {
        (notes.length > 0 ? notes : urgentNotes).shift();
        lost++;
      }
      wake();
    },
    async take(signal) {
      while (!signal.aborted) {
        const note = urgentNotes.shift() ?? notes.shift();
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
