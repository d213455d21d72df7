/**
 * JSON Patch (RFC 6902) as far as admission needs it: adding, replacing and removing members.
 *
 * @module
 */
import { quotedText } from "../quoted_text.ts";

/** One step. `path` is a JSON Pointer (RFC 6901), for instance `/spec/nodeSelector`. */
export type JSONPatchOperation =
  | { readonly op: "add" | "replace"; readonly path: string; readonly value: unknown }
  | { readonly op: "remove"; readonly path: string };

/** A member's name as a part of a pointer: `a/b~c` is `a~1b~0c`. */
export function pointerPart(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

/**
 * The document after these steps; what was given stays as it is. Throws a `RangeError` that names the
 * step which can't be made, as a server would refuse it: a member that is not there, or an index beyond
 * the list.
 */
export function applyJSONPatch(
  document: unknown,
  patch: readonly JSONPatchOperation[],
): unknown {
  return patch.reduce((present, operation) => {
    const [root, ...parts] = operation.path.split("/");
    if (root !== "" || parts.length === 0) throw fault(operation, "its path names no member");
    // JSON has no such value: what is sent would have none at all.
    if (operation.op !== "remove" && operation.value === undefined) {
      throw fault(operation, "it has no value");
    }
    const names = parts.map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
    return changed(present, names, operation);
  }, document);
}

function changed(
  node: unknown,
  [name = "", ...names]: readonly string[],
  operation: JSONPatchOperation,
): unknown {
  const isLast = names.length === 0;
  const adds = isLast && operation.op === "add";
  const removes = isLast && operation.op === "remove";
  const valueIn = (present: unknown): unknown =>
    isLast && operation.op !== "remove" ? operation.value : changed(present, names, operation);
  if (Array.isArray(node)) {
    const end = adds ? node.length : node.length - 1;
    const isIndex = /^(0|[1-9]\d*)$/.test(name);
    const index = adds && name === "-" ? end : isIndex ? Number(name) : Infinity;
    if (index > end) throw fault(operation, `${quotedText(name)} is not a place in a list`);
    return node.toSpliced(index, adds ? 0 : 1, ...(removes ? [] : [valueIn(node[index])]));
  }
  if (typeof node !== "object" || node === null) {
    throw fault(operation, `there is nothing to hold ${quotedText(name)}`);
  }
  const { [name]: present, ...others }: Readonly<Record<string, unknown>> = { ...node };
  if (!adds && !Object.hasOwn(node, name)) {
    throw fault(operation, `${quotedText(name)} is not there`);
  }
  // A computed name, also `__proto__`, becomes a member and nothing else.
  return removes ? others : { ...node, [name]: valueIn(present) };
}

function fault({ op, path }: JSONPatchOperation, what: string): RangeError {
  return new RangeError(`Cannot apply a patch: ${op} ${quotedText(path)}: ${what}`);
}
