/**
 * An HTTP/1.0 answer from the bytes of a connection.
 *
 * @module
 */

/** A status and a body. */
export interface HTTPAnswer {
  readonly status: number;
  readonly text: string;
}

const END_OF_HEAD = "\r\n\r\n";

/**
 * The answer, as soon as it is complete: when as many bytes came as its Content-Length says, or the
 * connection has ended. Undefined before, and for what is no HTTP.
 */
export function parseHTTPAnswer(
  chunks: readonly Uint8Array[],
  { ended }: { readonly ended: boolean },
): HTTPAnswer | undefined {
  const bytes = joined(chunks);
  // Latin-1 keeps one character a byte, so that positions in the text are positions in the bytes.
  const headLength = new TextDecoder("latin1").decode(bytes).indexOf(END_OF_HEAD);
  if (headLength < 0) return undefined;
  const head = new TextDecoder("latin1").decode(bytes.subarray(0, headLength));
  const status = /^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1];
  if (status === undefined) return undefined;
  const body = bytes.subarray(headLength + END_OF_HEAD.length);
  const length = /^content-length: *(\d+) *$/im.exec(head)?.[1];
  const complete = length === undefined ? ended : body.length >= Number(length);
  if (!complete) return undefined;
  const whole = length === undefined ? body : body.subarray(0, Number(length));
  return { status: Number(status), text: new TextDecoder().decode(whole) };
}

function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}
