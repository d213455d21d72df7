/**
 * Where the command-line library writes to: nowhere by itself.
 *
 * @module
 */
import type { OutputConfiguration } from "commander";

const HELP_COLUMNS = 100;

/** Takes what it would print. */
export interface CollectedOutput {
  /** Takes parts of help texts. */
  readonly take: (part: string) => void;
  /** Whether it takes complaints, too; otherwise they are dropped. @default {false} */
  readonly complaints?: boolean;
}

/**
 * Output options for the library's `configureOutput()`. Colours and width are set: the library would
 * else ask the environment for them, which a program may have no permission to read.
 */
export function collectedOutput(
  { take, complaints = false }: CollectedOutput,
): OutputConfiguration {
  return {
    writeOut: take,
    writeErr: complaints ? take : () => {},
    getOutHasColors: () => false,
    getErrHasColors: () => false,
    getOutHelpWidth: () => HELP_COLUMNS,
    getErrHelpWidth: () => HELP_COLUMNS,
  };
}
