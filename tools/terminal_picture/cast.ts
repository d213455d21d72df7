/**
 * A recorded terminal in the file format of asciinema, version 2: a header, and a line per output.
 * Source: https://docs.asciinema.org/manual/asciicast/v2/
 *
 * @module
 */
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
