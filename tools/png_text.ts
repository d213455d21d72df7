/**
 * A line of text in a PNG file: the figures that a picture shows, for a check that reads them.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { crc32 } from "node:zlib";

/** A file's signature and its first chunk; text comes after them. */
const HEAD_BYTES = 8 + 25;
const KEYWORD = "Description\0";

/** The picture with the text, which is Latin-1, in a `tEXt` chunk (PNG specification, 11.3.3.2). */
export function withText(png: Uint8Array, text: string): Uint8Array {
  const body = Buffer.from(`tEXt${KEYWORD}${text}`, "latin1");
  const chunk = Buffer.alloc(body.length + 8);
  chunk.writeUInt32BE(body.length - 4, 0);
  body.copy(chunk, 4);
  chunk.writeUInt32BE(crc32(body), body.length + 4);
  return Buffer.concat([png.subarray(0, HEAD_BYTES), chunk, png.subarray(HEAD_BYTES)]);
}

/** The text that {@linkcode withText} added; undefined without one. */
export function textOf(png: Uint8Array): string | undefined {
  const bytes = Buffer.from(png);
  const from = bytes.indexOf(`tEXt${KEYWORD}`, HEAD_BYTES, "latin1");
  if (from < 0) return undefined;
  const start = from + 4 + KEYWORD.length;
  return bytes.toString("latin1", start, from + 4 + bytes.readUInt32BE(from - 4));
}
