/**
 * Chance as an argument: a seeded source and the distributions drawn from it.
 *
 * @module
 */
import { mersenne } from "pure-rand/generator/mersenne";

/** A source of uniformly distributed numbers. */
export interface Random {
  /** A number in [0, 1). */
  next(): number;
}

const TWO_TO_32 = 2 ** 32;

/**
 * A generator (Mersenne Twister) that gives the same numbers for the same seed, an integer of which
 * the low 32 bits count. Its initialisation mixes the seed: neighbouring seeds give unrelated numbers.
 */
export function seededRandom(seed: number): Random {
  if (!Number.isSafeInteger(seed)) {
    throw new RangeError(`Cannot seed a generator: seed is ${seed}, expected an integer`);
  }
  const generator = mersenne(seed);
  return { next: () => (generator.next() >>> 0) / TWO_TO_32 };
}

/** A draw from the exponential distribution with the given mean (inverse transform). */
export function exponential(random: Random, mean: number): number {
  return -mean * Math.log1p(-random.next());
}

/** A draw from the standard normal distribution (Box-Muller, one of the two values). */
export function standardNormal(random: Random): number {
  const radius = Math.sqrt(-2 * Math.log1p(-random.next()));
  return radius * Math.cos(2 * Math.PI * random.next());
}

/**
 * A draw from the log-normal distribution with the given mean and coefficient of variation
 * (standard deviation / mean): sigma² = ln(1 + cv²), mu = ln(mean) − sigma² / 2.
 */
export function logNormal(
  random: Random,
  { mean, variation }: { readonly mean: number; readonly variation: number },
): number {
  const sigmaSquared = Math.log1p(variation * variation);
  return mean *
    Math.exp(Math.sqrt(sigmaSquared) * standardNormal(random) - sigmaSquared / 2);
}

/** `length` hexadecimal digits, for UIDs and container IDs. */
export function randomHex(random: Random, length: number): string {
  return Array.from({ length }, () => Math.floor(random.next() * 16).toString(16)).join("");
}
