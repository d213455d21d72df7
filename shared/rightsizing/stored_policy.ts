/**
 * A policy as the API has it, readable or not.
 *
 * @module
 */
import type { PolicyStatus } from "../api/policy_status.ts";
import type { ApiObject } from "../api/object.ts";
import type { PolicyReading } from "./read_policy_spec.ts";

/** The object, with its spec in numbers, or with what is wrong with that. */
export interface StoredPolicy extends ApiObject, PolicyReading {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
    /** Grows with each change of the spec. */
    readonly generation: number;
  };
  /** As far as it can be read. */
  readonly status: PolicyStatus;
  /** The faults in a sentence; absent where there are none. */
  readonly unreadable?: string;
}
