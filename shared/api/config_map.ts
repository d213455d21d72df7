/**
 * A ConfigMap as this product sees it.
 *
 * @module
 */
import type { NamespacedObject } from "./object.ts";

/** The trimmed ConfigMap. */
export interface ConfigMap extends NamespacedObject {
  readonly data: Readonly<Record<string, string>>;
}
