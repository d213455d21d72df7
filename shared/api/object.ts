/**
 * What all objects of the API have in common.
 *
 * @module
 */

/** Identity and version of an object, as a cache needs them. */
export interface ApiObject {
  /** Identity and version, as in the Kubernetes API. */
  readonly metadata: {
    readonly name: string;
    /** Absent on cluster-scoped objects. */
    readonly namespace?: string;
    readonly uid: string;
    /** Opaque; only compared for equality. */
    readonly resourceVersion: string;
  };
}

/** An object that lies in a namespace. */
export interface NamespacedObject extends ApiObject {
  readonly metadata: ApiObject["metadata"] & { readonly namespace: string };
}

/** The values of a label or annotation that switches something on or off. */
export type SwitchValue = "true" | "false";

/** Labels or annotations, as an object has them. */
export type Texts = Readonly<Record<string, string>>;

/** The switch under the key; undefined where there is none, or another value. */
export function switchValue(texts: Texts, key: string): SwitchValue | undefined {
  const text = Object.hasOwn(texts, key) ? texts[key] : undefined;
  return text === "true" || text === "false" ? text : undefined;
}
