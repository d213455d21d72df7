/**
 * Looks at what a workload wanted as a line of text.
 *
 * The text holds, in the six-bit characters of `bit_text.ts`: how many looks (small), then of each the
 * whole seconds since the one before, the first since 1970 (sized), and for each container, in the order
 * of their names, whether it wanted more than it had (1 bit) and if so how many millicores (sized).
 *
 * @module
 */
import { createBitReader, createBitWriter } from "../../../shared/rightsizing/bit_text.ts";
import { type Look, MOST_LOOKS } from "./throttle_memory.ts";

/** The looks of a workload, and what is needed to read them. */
export interface WrittenLooks {
  /** Names of its containers that wanted more than they had at any time. */
  readonly containers: readonly string[];
  readonly text: string;
}

/** The looks, the oldest first: times to the second, amounts to the millicore. */
export function writeLooks(looks: readonly Look[]): WrittenLooks {
  const containers = [...new Set(looks.flatMap(({ wanted }) => [...wanted.keys()]))].toSorted();
  const writer = createBitWriter();
  writer.small(looks.length);
  let before = 0;
  for (const { atMs, wanted } of looks) {
    // A clock that was set back must not make a number that can't be written.
    const seconds = Math.max(before, Math.floor(atMs / 1000));
    writer.sized(seconds - before);
    before = seconds;
    for (const container of containers) {
      const amount = wanted.get(container);
      writer.fixed(amount === undefined ? 0 : 1, 1);
      if (amount !== undefined) writer.sized(Math.round(amount));
    }
  }
  return { containers, text: writer.text() };
}

/** What {@linkcode writeLooks} wrote. Throws a `SyntaxError` for what it can't have written. */
export function readLooks({ containers, text }: WrittenLooks): readonly Look[] {
  const reader = createBitReader(text);
  const length = reader.small();
  if (length > MOST_LOOKS) throw new SyntaxError(`Cannot read looks: there are ${length}`);
  let seconds = 0;
  const looks = Array.from({ length }, (): Look => {
    seconds += reader.sized();
    const wanted = new Map<string, number>();
    for (const container of containers) {
      if (reader.fixed(1) === 1) wanted.set(container, reader.sized());
    }
    return { atMs: seconds * 1000, wanted };
  });
  reader.end();
  return looks;
}
