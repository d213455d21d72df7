/**
 * The one place where text is written: what others have put into names and messages is cleaned here.
 *
 * @module
 */
import { wantsColor } from "../terminal/paint.ts";
import { printableText } from "../terminal/printable_text.ts";
import type { CoallocWorld, CommandWorld } from "./ports.ts";

/** Cursor to the first place; end of line cleared; rest of the screen cleared (ECMA-48, 8.3). */
const HOME = "\x1b[H";
const CLEAR_LINE = "\x1b[K";
const CLEAR_BELOW = "\x1b[J";
const CLEAR_ALL = "\x1b[2J";

/** The same world, but a terminal obeys nothing of what is written but our own colours and screens. */
export function printableWorld(world: CoallocWorld): CommandWorld {
  const color = wantsColor({ isTerminal: world.outIsTerminal, noColor: world.noColor });
  const printed: Pick<CommandWorld, "out" | "err" | "progress" | "draw"> = {
    out: (text) => world.out(printableText(text, { color })),
    err: (text) => world.err(printableText(text, { color })),
    progress: world.err,
    draw(text, { first }) {
      const lines = printableText(text, { color }).replaceAll("\n", `${CLEAR_LINE}\n`);
      world.out(`${first ? CLEAR_ALL : ""}${HOME}${lines}${CLEAR_BELOW}`);
    },
  };
  return Object.setPrototypeOf(printed, world);
}
