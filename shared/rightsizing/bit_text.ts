/**
 * Whole numbers as text, six bits to a character, most of them in few bits.
 *
 * @module
 */

/** The characters of base64 for addresses (RFC 4648, section 5), each for six bits. */
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const BITS = 6;
const VALUES: ReadonlyMap<string, number> = new Map(
  [...ALPHABET].map((character, value): [string, number] => [character, value]),
);

/** 2^53 needs six bits for its length. */
const LENGTH_BITS = 6;
const MOST_BITS = 53;

/** With the five bits at most that wait for a sixth, these are less than the 31 that can be shifted. */
const AT_ONCE = 24;

/** Appends whole numbers; the last two throw a `RangeError` for what is none. */
export interface BitWriter {
  /** A number below 2^bits, at most 53 of them. */
  fixed(value: number, bits: number): void;
  /** A number that is mostly 0 or little: 1 bit for 0, 3 for 1 and 2, 5 up to 6 (Exp-Golomb). */
  small(value: number): void;
  /** A number of any size below 2^53: six bits for its length, then its digits. */
  sized(value: number): void;
  /** All that was written. */
  text(): string;
}

/** A text with nothing in it. */
export function createBitWriter(): BitWriter {
  const characters: string[] = [];
  let pending = 0;
  let filled = 0;

  const fixed = (value: number, bits: number): void => {
    if (bits > AT_ONCE) {
      fixed(Math.floor(value / 2 ** AT_ONCE), bits - AT_ONCE);
      fixed(value % 2 ** AT_ONCE, AT_ONCE);
      return;
    }
    pending = pending << bits | value;
    filled += bits;
    while (filled >= BITS) {
      filled -= BITS;
      characters.push(ALPHABET[pending >> filled]!);
      pending &= (1 << filled) - 1;
    }
  };
  const small = (value: number): void => {
    const bits = bitLength(value + 1);
    fixed(0, bits - 1);
    fixed(value + 1, bits);
  };
  const sized = (value: number): void => {
    const bits = bitLength(value);
    fixed(bits, LENGTH_BITS);
    fixed(value, bits);
  };
  return {
    fixed,
    small,
    sized,
    text: () => characters.join("") + (filled === 0 ? "" : ALPHABET[pending << (BITS - filled)]!),
  };
}

/** Binary digits of a whole number; 0 for 0. */
function bitLength(value: number): number {
  if (!Number.isSafeInteger(value) || value < 0) {
    throw new RangeError(`Cannot write number: ${value} is not whole and from 0 to 2^53 - 1`);
  }
  const high = Math.floor(value / 2 ** 32);
  return high === 0 ? 32 - Math.clz32(value) : 64 - Math.clz32(high);
}

/** Takes the numbers in the order in which they were written. */
export interface BitReader {
  fixed(bits: number): number;
  small(): number;
  sized(): number;
  /** Throws a `SyntaxError` where more is left than what fills the last character. */
  end(): void;
}

/** Reads what a {@linkcode BitWriter} wrote; throws a `SyntaxError` for what none can have written. */
export function createBitReader(text: string): BitReader {
  let place = 0;
  let current = 0;
  let left = 0;

  const fixed = (bits: number): number => {
    let value = 0;
    for (let wanted = bits; wanted > 0;) {
      if (left === 0) {
        const next = VALUES.get(text[place] ?? "");
        if (next === undefined) {
          throw new SyntaxError(
            `Cannot read numbers: character ${place} of ${text.length} is not one of the alphabet`,
          );
        }
        place++;
        current = next;
        left = BITS;
      }
      const taken = Math.min(wanted, left);
      left -= taken;
      wanted -= taken;
      value = value * 2 ** taken + (current >> left) % 2 ** taken;
    }
    return value;
  };
  const bounded = (bits: number): number => {
    if (bits > MOST_BITS) {
      throw new SyntaxError(`Cannot read numbers: one has more than ${MOST_BITS} bits`);
    }
    return bits;
  };
  return {
    fixed,
    small() {
      let zeros = 0;
      while (fixed(1) === 0) zeros = bounded(zeros + 1);
      return 2 ** zeros + fixed(zeros) - 1;
    },
    sized: () => fixed(bounded(fixed(LENGTH_BITS))),
    end() {
      if (place < text.length || fixed(left) !== 0) {
        throw new SyntaxError("Cannot read numbers: more follows than was expected");
      }
    },
  };
}
