/**
 * Identity and version of an object of the API.
 *
 * @module
 */
import { quotedText } from "../../shared/quoted_text.ts";
import { objectOf, textOf } from "./json_fields.ts";

/** What tells objects and their versions apart. */
export interface ObjectIdentity {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

/** The identity; throws a `TypeError` that names the member which is not there. */
export function parseIdentity(raw: unknown): ObjectIdentity {
  const metadata = objectOf(objectOf(raw).metadata);
  const need = (member: string): string => {
    const value = textOf(metadata[member]);
    if (value === undefined) {
      throw new TypeError(`Cannot read an object of the API: metadata.${member} is not there`);
    }
    return value;
  };
  return { name: need("name"), uid: need("uid"), resourceVersion: need("resourceVersion") };
}

/** The identity with the namespace; throws a `TypeError` as `parseIdentity` does. */
export function parseNamespacedIdentity(raw: unknown): ObjectIdentity & { namespace: string } {
  const identity = parseIdentity(raw);
  const namespace = textOf(objectOf(objectOf(raw).metadata).namespace);
  if (namespace === undefined) {
    throw new TypeError(
      `Cannot read an object of the API: metadata.namespace of ${
        quotedText(identity.name)
      } is not there`,
    );
  }
  return { ...identity, namespace };
}
