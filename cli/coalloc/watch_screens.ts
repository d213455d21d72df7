/**
 * Screens again and again, until the user ends it.
 *
 * @module
 */
import { ApiError } from "../../shared/api/api_error.ts";
import { explainApiError } from "./api_problem.ts";
import type { CommandContext } from "./command_context.ts";

/** What is watched. */
export interface WatchedScreens {
  /** From one screen to the next, ms. */
  readonly watchMs: number;
  /** What can't be done while the server is away, for instance `read the market`. */
  readonly action: string;
  /** Makes a screen; each line ends with a line feed. */
  readonly screen: () => Promise<string>;
  /** True: a screen like the last one is not written again. @default {false} */
  readonly changesOnly?: boolean;
}

/** Cursor to the first place; end of line cleared; rest of the screen cleared (ECMA-48, 8.3). */
const HOME = "\x1b[H";
const CLEAR_LINE = "\x1b[K";
const CLEAR_BELOW = "\x1b[J";
const CLEAR_ALL = "\x1b[2J";

/** Writes screens. Resolves with the exit code; rejects as the first screen does. */
export async function watchScreens(
  { watchMs, action, screen, changesOnly = false }: WatchedScreens,
  context: CommandContext,
): Promise<number> {
  const { clock, signal, out } = context.world;
  let last: string | undefined;
  while (!signal.aborted) {
    const text = await screen().catch((error: unknown) => {
      if (signal.aborted) return "";
      // A server that is away for a moment ends no watch; a refusal at the start does.
      if (last === undefined || !(error instanceof ApiError)) throw error;
      return `${explainApiError(action, error)}\n`;
    });
    if (signal.aborted) break;
    if (!changesOnly || text !== last) out(framed(text, context, { first: last === undefined }));
    last = text;
    await clock.sleep(watchMs, signal);
  }
  return 0;
}

/** Text on its way to a terminal overwrites the last screen; elsewhere it stands below the last. */
function framed(
  text: string,
  { world, output }: CommandContext,
  { first }: { readonly first: boolean },
): string {
  if (output === "json") return text;
  if (output === "yaml") return `---\n${text}`;
  if (!world.outIsTerminal) return first ? text : `\n${text}`;
  const start = first ? CLEAR_ALL + HOME : HOME;
  return start + text.replaceAll("\n", `${CLEAR_LINE}\n`) + CLEAR_BELOW;
}
