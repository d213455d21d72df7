/**
 * Whole numbers on the benchmarks' command lines.
 *
 * @module
 */
import { InvalidArgumentError } from "commander";

/** A whole number, at least 1. Throws an `InvalidArgumentError` for any other text. */
export function wholeNumber(text: string): number {
  const value = /^\d+$/.test(text) ? Number(text) : 0;
  if (value < 1 || !Number.isSafeInteger(value)) {
    throw new InvalidArgumentError("Expected a whole number, at least 1.");
  }
  return value;
}
