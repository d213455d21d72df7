/**
 * JSON values, one a line, from chunks of bytes that end anywhere.
 *
 * @module
 */

/** Cuts a stream into values. */
export interface JSONLines {
  /** The values whose lines end in this chunk. Throws a `SyntaxError` for a line that is no JSON. */
  take(chunk: Uint8Array): unknown[];
  /** True when the last line has not ended yet: a stream that ends here was cut off. */
  readonly pending: boolean;
}

/** A splitter at the start of a stream. Chunks may end within a character; empty lines are skipped. */
export function createJSONLines(): JSONLines {
  const decoder = new TextDecoder();
  let parts: string[] = [];
  return {
    take(chunk) {
      const lines = decoder.decode(chunk, { stream: true }).split("\n");
      const values: unknown[] = [];
      for (const [index, line] of lines.entries()) {
        // Parts are joined once a line has ended: a large object comes in many small chunks.
        if (line !== "") parts.push(line);
        if (index === lines.length - 1) break;
        const text = parts.join("");
        parts = [];
        if (text.trim() !== "") values.push(JSON.parse(text));
      }
      return values;
    },
    get pending() {
      return parts.length > 0;
    },
  };
}
