/**
 * A PersistentVolume as this product sees it: from which nodes it is reached.
 *
 * @module
 */
import type { ApiObject } from "../control/list_watch.ts";
import type { NodeTerm } from "./node.ts";

/** The trimmed volume. */
export interface PersistentVolume extends ApiObject {
  /** `namespace/name` of the claim that has it; absent where none does. */
  readonly claim?: string;
  /** Absent: from all nodes. */
  readonly nodes?: readonly NodeTerm[];
}
