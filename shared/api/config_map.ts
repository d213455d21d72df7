/**
 * A ConfigMap as this product sees it.
 *
 * @module
 */
import type { ApiObject } from "./object.ts";

/** The trimmed ConfigMap. */
export interface ConfigMap extends ApiObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
  };
  readonly data: Readonly<Record<string, string>>;
}
