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

/** By way of whole microseconds where the number is large: a wall clock's ns are no exact double. */
function nanoseconds(ms: number): bigint {
  if (ms < 1e9) return BigInt(Math.round(ms * NS_PER_MS));
  return BigInt(Math.round(ms * 1000)) * 1000n;
}
