/**
 * Lists of names on the benchmarks' command lines.
 *
 * @module
 */
import { InvalidArgumentError } from "commander";

/**
 * Parses names of `known`, separated by commas. Throws an `InvalidArgumentError` for any other name.
 */
export function namesAmong<Name extends string>(
  known: readonly Name[],
): (text: string) => Name[] {
  return (text) =>
    text.split(",").map((part) => {
      const found = known.find((name) => name === part.trim());
      if (found !== undefined) return found;
      throw new InvalidArgumentError(`Expected names of ${known.join(", ")}.`);
    });
}
