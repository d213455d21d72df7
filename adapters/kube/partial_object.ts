/**
 * Objects that bound others: one that can't be read must not pass for one that bounds nothing.
 *
 * @module
 */

/** An object that may say why it can't be read. */
export interface PartialObject {
  readonly unreadable?: string;
}

/**
 * What `read` reads of the object. Where it throws a `TypeError` or `SyntaxError`, `blank` with that
 * error's words.
 */
export function readOrTell<T extends PartialObject>(read: () => T, blank: T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof SyntaxError)) throw error;
    return { ...blank, unreadable: error.message };
  }
}
