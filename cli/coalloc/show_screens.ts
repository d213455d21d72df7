/**
 * Shows a screen once, or repeatedly until the user ends it.
 *
 * @module
 */
import { ApiError } from "../../shared/api/api_error.ts";
import { textLines } from "../terminal/terminal_text.ts";
import { explainApiError } from "./api_problem.ts";
import { INTERRUPTED } from "./global_flags.ts";
import type { CommandContext } from "./ports.ts";

/** Screens, and the time between them. */
export interface ShownScreens {
  /** Time between two screens, ms; undefined: one screen only. */
  readonly watchMs: number | undefined;
  /** The action that fails while the server is away, for instance `read the market`. */
  readonly action: string;
  /** Returns a screen; each line ends with a line feed. */
  readonly screen: () => Promise<string>;
  /** Whether a screen is written only if it differs from the last one. @default {false} */
  readonly changesOnly?: boolean;
}

/** Writes screens. Resolves with the exit code; rejects as the first screen does. */
export async function showScreens(
  { watchMs, action, screen, changesOnly = false }: ShownScreens,
  context: CommandContext,
): Promise<number> {
  const { out, clock, signal } = context.world;
  if (watchMs === undefined) {
    const text = await screen();
    if (signal.aborted) return INTERRUPTED;
    out(text);
    return 0;
  }
  let last: string | undefined;
  while (!signal.aborted) {
    const text = await screen().catch((error: unknown) => {
      if (signal.aborted) return "";
      // An error ends the watch only at its start: later the server may be away for a moment.
      if (last === undefined || !(error instanceof ApiError)) throw error;
      return textLines([explainApiError(action, error)]);
    });
    if (signal.aborted) break;
    if (!changesOnly || text !== last) write(text, context, { first: last === undefined });
    last = text;
    await clock.sleep(watchMs, signal);
  }
  return 0;
}

/** Overwrites the screen of a terminal; elsewhere writes screens one below the other. */
function write(
  text: string,
  { world, output }: CommandContext,
  { first }: { readonly first: boolean },
): void {
  if (output === "json") world.out(text);
  else if (output === "yaml") world.out(`---\n${text}`);
  else if (world.outIsTerminal) world.draw(text, { first });
  else world.out(first ? text : `\n${text}`);
}
