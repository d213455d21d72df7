/**
 * A recorded terminal in the file format of asciinema, version 2, a header and a line per output, and as an
 * animated SVG without scripts, which GitHub shows in a README.
 * Source: https://docs.asciinema.org/manual/asciicast/v2/
 *
 * @module
 */
import xterm from "@xterm/headless";
import * as z from "zod";

const headerSchema = z.object({ version: z.literal(2), width: z.int(), height: z.int() });
const eventSchema = z.tuple([z.number(), z.literal("o"), z.string()]);

/** Output at a time, seconds since the start. */
export interface CastEvent {
  readonly at: number;
  readonly text: string;
}

/** The recording. */
export interface Cast {
  /** Characters. */
  readonly width: number;
  readonly height: number;
  readonly events: readonly CastEvent[];
}

/** Reads a recording. Throws for any other text. */
export function parseCast(text: string): Cast {
  const [header = "", ...lines] = text.trimEnd().split("\n");
  const { width, height } = headerSchema.parse(JSON.parse(header));
  const events = lines.map((line) => {
    const [at, , text] = eventSchema.parse(JSON.parse(line));
    return { at, text };
  });
  return { width, height, events };
}

/** The text that {@linkcode parseCast} reads. */
export function castText({ width, height, events }: Cast): string {
  const lines = events.map(({ at, text }) => [Number(at.toFixed(3)), "o", text]);
  return [{ version: 2, width, height }, ...lines].map((line) => `${JSON.stringify(line)}\n`).join(
    "",
  );
}

/** A screen, from its time until the next one. */
export interface Frame {
  /** Seconds since the start. */
  readonly at: number;
  /** Markup of each line; empty for an empty one. */
  readonly rows: readonly string[];
}

/** Outputs that come together are one frame, and a frame without changes stays so long at most, seconds. */
const TOGETHER = 0.04;
const LONGEST = 2.5;

/** Pixels. Monospaced fonts are 0.6 em wide. */
const FONT = 13;
const CELL = { width: 0.6 * FONT, height: 1.35 * FONT };
const MARGIN = 14;

/** The palette's first colours, as classes. */
const COLORS: readonly (string | undefined)[] = [undefined, "r", "g", "y", "b", undefined, "c"];

const STYLE =
  `text{font:${FONT}px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#d6d9de}
.h{font-weight:700}.d{fill:#8b919b}.r{fill:#ff7b72}.g{fill:#7ee787}.y{fill:#f2cc60}.b{fill:#79c0ff}.c{fill:#76e3ea}`;

/** Plays the recording in a terminal, and keeps each screen that differs from the one before. */
export async function framesOf({ width, height, events }: Cast): Promise<readonly Frame[]> {
  const terminal = new xterm.Terminal({ cols: width, rows: height, allowProposedApi: true });
  const frames: Frame[] = [];
  let pausedFor = 0;
  let last = 0;
  for (const [index, { at, text }] of events.entries()) {
    await new Promise<void>((resolve) => terminal.write(text, resolve));
    const next = events[index + 1]?.at ?? Infinity;
    if (next - at < TOGETHER) continue;
    pausedFor += Math.max(0, at - last - LONGEST);
    last = at;
    const rows = Array.from({ length: height }, (_, row) => rowMarkup(terminal, row));
    if (rows.join("\n") !== frames.at(-1)?.rows.join("\n")) {
      frames.push({ at: at - pausedFor, rows });
    }
  }
  terminal.dispose();
  return frames;
}

/** Runs of text of one look; spaces between columns end a run, so that no font moves the next one. */
function rowMarkup({ buffer: { active } }: xterm.Terminal, row: number): string {
  const line = active.getLine(active.viewportY + row);
  if (line === undefined) return "";
  const runs: { x: number; look: string; text: string }[] = [];
  for (let x = 0; x < line.length; x++) {
    const cell = line.getCell(x);
    const text = cell?.getChars() || " ";
    const look = cell === undefined ? "" : [
      cell.isBold() ? "h" : "",
      cell.isDim() ? "d" : "",
      cell.isFgPalette() ? COLORS[cell.getFgColor() % 8] ?? "" : "",
    ].filter((one) => one !== "").join(" ");
    const run = runs.at(-1);
    if (run?.look === look && !(run.text.endsWith(" ") && text !== " " && /\s\s$/.test(run.text))) {
      run.text += text;
    } else runs.push({ x, look, text });
  }
  return runs.map(({ x, look, text }) => {
    const indent = text.length - text.trimStart().length;
    if (text.trim() === "") return "";
    const left = ((x + indent) * CELL.width).toFixed(1);
    return `<tspan x="${left}"${look === "" ? "" : ` class="${look}"`}>${
      escaped(text.trim())
    }</tspan>`;
  }).join("");
}

/** Lines of a screen that is nearly full, of the fullest one's. */
const FULL = 0.8;

/** The frames from the first full one on, then those before it; the last one of the recording stays. */
function rotated(
  frames: readonly Frame[],
): { readonly frames: readonly Frame[]; readonly total: number } {
  const lines = frames.map(({ rows }) => rows.filter((row) => row !== "").length);
  const first = lines.findIndex((count) => count >= FULL * Math.max(...lines));
  const total = (frames.at(-1)?.at ?? 0) + LONGEST;
  const begin = frames[first]?.at ?? 0;
  const moved = [...frames.slice(first), ...frames.slice(0, Math.max(0, first))];
  return {
    frames: moved.map(({ at, rows }) => ({ at: (at - begin + total) % total, rows })),
    total,
  };
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

/**
 * The picture, which begins with the first screen that is nearly full, and ends with those before it.
 * Without animations, or with motion turned off, that one alone is seen.
 */
export async function drawTerminal(
  cast: Cast,
  { title }: { readonly title: string },
): Promise<string> {
  const { frames, total } = rotated(await framesOf(cast));
  const width = Math.ceil(cast.width * CELL.width + 2 * MARGIN);
  const height = Math.ceil(cast.height * CELL.height + 2 * MARGIN);
  const percent = (at: number): string => (100 * at / total).toFixed(2).replace(/\.?0+$/, "");
  // A line that several frames have is there once.
  const ids = new Map<string, number>();
  const shown = frames.map(({ rows }, index) => {
    const lines = rows.flatMap((row, y) => {
      if (row === "") return [];
      const id = ids.get(row) ?? ids.size;
      ids.set(row, id);
      return [`<use href="#r${id}" y="${(y * CELL.height).toFixed(1)}"/>`];
    });
    return `<g id="f${index}">${lines.join("")}</g>`;
  });
  const rules = frames.map(({ at }, index) => {
    const [from, to] = [percent(at), percent(frames[index + 1]?.at ?? total)];
    const hidden = index === 0 ? "" : "0%{visibility:hidden}";
    const end = index === frames.length - 1 ? "" : `${to}%{visibility:hidden}`;
    const still = index === 0 ? "" : "visibility:hidden;";
    return `@keyframes k${index}{${hidden}${from}%{visibility:visible}${end}}` +
      `#f${index}{${still}animation:k${index} ${total.toFixed(2)}s steps(1,end) infinite}`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" role="img">
<title>${escaped(title)}</title>
<style>${STYLE}
${rules.join("\n")}
@media(prefers-reduced-motion:reduce){g[id]{animation:none!important}}</style>
<rect width="100%" height="100%" rx="8" fill="#1b1e24"/>
<defs>
${[...ids].map(([row, id]) => `<text id="r${id}">${row}</text>`).join("\n")}
</defs>
<g transform="translate(${MARGIN} ${MARGIN + FONT})">
${shown.join("\n")}
</g>
</svg>
`;
}
