/**
 * What a status says of own limits that are back, written and read.
 *
 * @module
 */
import type { OutOfScope } from "./scope.ts";

const BEGIN = "the user's own limits are back";

/** The message of a status `Restored`: with the word of the cause, which `explain` looks up. */
export function restoredMessage({ reason, message }: OutOfScope): string {
  return `${BEGIN}: ${reason}: ${message}`;
}

/** The word of the cause; undefined in other messages, and in those of versions that wrote none. */
export function restoredCause(message: string): string | undefined {
  return message.startsWith(BEGIN)
    ? /^: ([A-Z][A-Za-z]*): /.exec(message.slice(BEGIN.length))?.[1]
    : undefined;
}
