/**
 * The list of requests that a service works through (`service.c`), and what became of them.
 *
 * A header of four little-endian 64 bit values: start (ns of the wall clock, 0 until it is known),
 * count, index of the next request, unused. Then four values a request: when it comes, its cost, when
 * a thread took it and when it was done (ns after the start; of CPU for the cost; 0 for not yet).
 *
 * @module
 */
import type { RequestLog } from "../../simulation/oracle/request_log.ts";

/** What became of the requests, in their order. ms after the start; NaN for not yet. */
export interface ServedRequests extends Pick<RequestLog, "atMs" | "costMs"> {
  /** When a thread took it: often before it came. */
  readonly takenMs: Float64Array;
  readonly doneMs: Float64Array;
}

const BYTES_PER_VALUE = 8;
const HEADER_VALUES = 4;
const REQUEST_VALUES = 4;
const NS_PER_MS = 1e6;

/** The file of a list that was not begun. */
export function encodeRequests({ atMs, costMs }: RequestLog): Uint8Array<ArrayBuffer> {
  const values = new BigUint64Array(HEADER_VALUES + REQUEST_VALUES * atMs.length);
  values[1] = BigInt(atMs.length);
  atMs.forEach((at, index) => {
    const first = HEADER_VALUES + REQUEST_VALUES * index;
    values[first] = nanoseconds(at);
    values[first + 1] = nanoseconds(costMs[index] ?? 0);
  });
  return new Uint8Array(values.buffer);
}

/** Reports all replicas when the requests begin to come: ms of the wall clock. */
export async function writeStart(file: string, atMs: number): Promise<void> {
  using open = await Deno.open(file, { write: true });
  await open.write(new Uint8Array(BigUint64Array.of(nanoseconds(atMs)).buffer));
}

/** Reads what became of them. Throws a `RangeError` for a file that is shorter than it says. */
export function decodeRequests(bytes: Uint8Array<ArrayBuffer>): ServedRequests {
  const values = new BigUint64Array(
    bytes.buffer,
    0,
    Math.floor(bytes.byteLength / BYTES_PER_VALUE),
  );
  const count = Number(values[1] ?? 0n);
  if (values.length < HEADER_VALUES + REQUEST_VALUES * count) {
    throw new RangeError(
      `Cannot read requests: ${bytes.byteLength} bytes hold no ${count} of them`,
    );
  }
  const column = (offset: number): Float64Array =>
    Float64Array.from(
      { length: count },
      (_, index) =>
        Number(values[HEADER_VALUES + REQUEST_VALUES * index + offset] ?? 0n) / NS_PER_MS,
    );
  const orNever = (ms: number): number => ms === 0 ? NaN : ms;
  return {
    atMs: column(0),
    costMs: column(1),
    takenMs: column(2).map(orNever),
    doneMs: column(3).map(orNever),
  };
}

/** By way of whole microseconds where the number is large: a wall clock's ns are no exact double. */
function nanoseconds(ms: number): bigint {
  if (ms < 1e9) return BigInt(Math.round(ms * NS_PER_MS));
  return BigInt(Math.round(ms * 1000)) * 1000n;
}
