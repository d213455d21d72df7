/**
 * The port to the log: constant messages with fields.
 *
 * @module
 */

/** Values a log line may carry. Never a secret, a token or a whole object. */
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

/** Where a part of the program reports what it does. */
export interface Log {
  /** Something a developer may want to follow. */
  debug(message: string, fields?: LogFields): void;
  /** Something an operator may want to know. */
  info(message: string, fields?: LogFields): void;
  /** Something went wrong and was dealt with. */
  warn(message: string, fields?: LogFields): void;
  /** Something went wrong and needs a person. */
  error(message: string, fields?: LogFields): void;
}

/** A log that keeps nothing. */
export const silentLog: Log = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
};
