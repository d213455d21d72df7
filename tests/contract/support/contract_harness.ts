/**
 * What every contract suite needs of the server that it is run against.
 *
 * @module
 */
import assert from "node:assert/strict";
import { ApiError } from "../../../shared/api/api_error.ts";

/** A server prepared for one test. */
export interface ContractHarness {
  /** Lets time pass until the promise has settled, and returns its value or throws its error. */
  settle<V>(promise: Promise<V>): Promise<V>;
  /** Takes everything away again. */
  close(): Promise<void>;
}

/** Prepares a server. */
export type OpenHarness<H extends ContractHarness> = () => Promise<H>;

/** Registers a test that opens a harness, and closes it whatever happens. */
export function contractTest<H extends ContractHarness>(
  name: string,
  open: OpenHarness<H>,
  check: (harness: H) => Promise<void>,
): void {
  Deno.test(name, async () => {
    const harness = await open();
    try {
      await check(harness);
    } finally {
      await harness.close();
    }
  });
}

/** Asserts that the call is refused with this status, and with what else is given of the answer. */
export async function assertRefused(
  harness: ContractHarness,
  call: () => Promise<unknown>,
  refusal: {
    readonly status: number;
    readonly reason?: string;
    readonly causes?: readonly string[];
  },
): Promise<void> {
  await assert.rejects(harness.settle(call()), (error: unknown) => {
    assert.ok(error instanceof ApiError, `expected an ApiError, got ${String(error)}`);
    assert.equal(error.status, refusal.status, error.message);
    if (refusal.reason !== undefined) assert.equal(error.reason, refusal.reason);
    if (refusal.causes !== undefined) assert.deepEqual(error.causes, refusal.causes);
    return true;
  });
}
