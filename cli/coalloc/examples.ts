/**
 * Examples at the end of a command's help.
 *
 * @module
 */

/** One example: the command line, and what it is for. */
export type Example = readonly [command: string, what: string];

/** The examples as text, each below a comment that says what it is for. */
export function examples(list: readonly Example[]): string {
  return ["", "Examples:", ...list.flatMap(([command, what]) => [`  # ${what}`, `  ${command}`])]
    .join("\n");
}
