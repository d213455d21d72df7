/**
 * The server that every contract suite runs against.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { ApiError } from "../../../shared/api/api_error.ts";

/** A server prepared for one test. */
export interface ContractHarness {
  /** Lets virtual time pass until the promise has settled. @default real time */
  settle?<V>(promise: Promise<V>): Promise<V>;
  /** Takes everything away again. @default nothing to do */
  close?(): Promise<void>;
}

/** Prepares a server. */
export type OpenHarness<H extends ContractHarness> = () => H | Promise<H>;

/** Registers a test of a suite. */
export type ContractTest<H> = (name: string, check: (harness: H) => Promise<void>) => void;

/** Tests that open a harness, and close it whatever happens. */
export function contractTests<H extends ContractHarness>(open: OpenHarness<H>): ContractTest<H> {
  return (name, check) =>
    Deno.test(name, async () => {
      const harness = await open();
      try {
        const checked = check(harness);
        await (harness.settle?.(checked) ?? checked);
      } finally {
        await harness.close?.();
      }
    });
}

/** A UID that no object has: in a write, it names an object that was replaced. */
export const OTHER_UID = "00000000-0000-4000-8000-000000000000";

/** The server's refusal of a write. */
export type Refusal = Pick<ApiError, "status"> & Partial<Pick<ApiError, "reason" | "causes">>;

/** There is an object of this name already. */
export const EXISTS: Refusal = { status: 409, reason: "AlreadyExists" };
/** The object was written since it was read. */
export const CONFLICT: Refusal = { status: 409, reason: "Conflict" };
/** A field is not valid. */
export const INVALID: Refusal = { status: 422, reason: "Invalid" };
/** There is no such object. */
export const NOT_FOUND: Refusal = { status: 404, reason: "NotFound" };

/** Asserts that the call is refused with this status, and with what else is given of the answer. */
export async function assertRefused(
  answer: Promise<unknown>,
  refusal: Refusal,
): Promise<void> {
  await assert.rejects(answer, { name: "ApiError", ...refusal });
}
