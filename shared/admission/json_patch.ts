/**
 * Steps of a JSON Patch (RFC 6902).
 *
 * @module
 */

/** One step. `path` is a JSON Pointer (RFC 6901), for instance `/spec/nodeSelector`. */
export type JSONPatchOperation =
  | { readonly op: "add" | "replace"; readonly path: string; readonly value: unknown }
  | { readonly op: "remove"; readonly path: string };

/** A member's name as a part of a pointer: `a/b~c` is `a~1b~0c`. */
export function pointerPart(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}
