/**
 * Text for fields that a server measures in bytes.
 *
 * @module
 */

const encoder = new TextEncoder();

/** As much of the text as `most` bytes of UTF-8 hold, cut between characters, with `…` for the rest. */
export function cutToBytes(text: string, most: number): string {
  // A UTF-16 unit becomes three bytes at most.
  if (3 * text.length <= most || encoder.encode(text).length <= most) return text;
  const mark = "…";
  const room = new Uint8Array(Math.max(0, most - encoder.encode(mark).length));
  const { read } = encoder.encodeInto(text, room);
  return text.slice(0, read) + mark;
}
