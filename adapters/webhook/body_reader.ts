/**
 * Reads bodies of requests within bounds: of each, and of all that are in work.
 *
 * @module
 */
import { Buffer } from "node:buffer";

/** A body; call `done` when it is no longer needed. */
export interface ReadBody {
  readonly bytes: Uint8Array;
  done(): void;
}

/** Why a body is not read to its end, and the status for it. */
export interface BodyRefusal {
  readonly status: 400 | 503;
  readonly refusal: string;
}

/** Reads bodies. */
export interface BodyReader {
  /** The whole body, or why not. Rejects when it breaks off. */
  read(chunks: AsyncIterable<Uint8Array>): Promise<ReadBody | BodyRefusal>;
}

/** A reader with these bounds, bytes. */
export function createBodyReader(
  { mostBytes, mostBytesInWork }: {
    readonly mostBytes: number;
    readonly mostBytesInWork: number;
  },
): BodyReader {
  let inWork = 0;
  return {
    async read(chunks) {
      const kept: Uint8Array[] = [];
      let bytes = 0;
      let held = true;
      const done = (): void => {
        if (held) inWork -= bytes;
        held = false;
      };
      try {
        for await (const chunk of chunks) {
          bytes += chunk.length;
          inWork += chunk.length;
          if (bytes > mostBytes) {
            done();
            const refusal = `Cannot read the request: it has more than ${mostBytes} bytes`;
            return { status: 400, refusal };
          }
          if (inWork > mostBytesInWork) {
            done();
            return { status: 503, refusal: "Cannot read the request: too many are in work" };
          }
          kept.push(chunk);
        }
        return { bytes: Buffer.concat(kept), done };
      } catch (error) {
        done();
        throw error;
      }
    },
  };
}
