/**
 * Values of flags that several programs take, for commander.
 *
 * @module
 */
import { InvalidArgumentError } from "commander";
import { kindMeta, type NumberBounds, numberKind, valueOf } from "../shared/config/kinds.ts";

/** A parser of numbers within bounds. */
export function numberWithin(bounds: NumberBounds): (text: string) => number {
  const kind = numberKind(bounds);
  return (text) => {
    const value = valueOf(kind, text);
    if (value === undefined) throw new InvalidArgumentError(`Give ${kindMeta(kind).expects}`);
    return value;
  };
}

/** A path that does not swallow the next flag. */
export function filePath(text: string): string {
  if (text.trim() === "" || text.includes("\0")) {
    throw new InvalidArgumentError("Give the path of a file");
  }
  if (text.startsWith("-")) {
    throw new InvalidArgumentError(`Give a path; a file of that name is ./${text}`);
  }
  return text;
}
