/**
 * A namespace as this product sees it.
 *
 * @module
 */
import type { ApiObject } from "../control/list_watch.ts";

/** The trimmed namespace. */
export interface Namespace extends ApiObject {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
  };
}
