/**
 * JSON Patch (RFC 6902) as far as admission needs it: adding, replacing, removing and testing members.
 *
 * @module
 */
import { quotedText } from "../quoted_text.ts";

/** One step. `path` is a JSON Pointer (RFC 6901), for instance `/spec/nodeSelector`. */
export type JSONPatchOperation =
  | { readonly op: "add" | "replace" | "test"; readonly path: string; readonly value: unknown }
  | { readonly op: "remove"; readonly path: string };

/** A member's name as a part of a pointer: `a/b~c` is `a~1b~0c`. */
export function pointerPart(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

/**
 * The document after these steps; what was given stays as it is. Throws a `RangeError` that names the
 * step which can't be made, as a server would refuse it: a member that is not there, an index beyond
 * the list, a value that a test did not expect.
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
    return changed(present, { names, operation });
  }, document);
}

interface Step {
  /** What is left of the path. */
  readonly names: readonly string[];
  readonly operation: JSONPatchOperation;
}

function changed(node: unknown, step: Step): unknown {
  const { names: [name = "", ...names], operation } = step;
  if (Array.isArray(node)) return changedList(node, { name, names, operation });
  if (typeof node !== "object" || node === null) {
    throw fault(operation, `there is nothing to hold ${quotedText(name)}`);
  }
  const members = node as Readonly<Record<string, unknown>>;
  const there = Object.hasOwn(members, name);
  const last = names.length === 0;
  if (!there && !(last && operation.op === "add")) {
    throw fault(operation, `${quotedText(name)} is not there`);
  }
  if (!last) return { ...members, [name]: changed(members[name], { names, operation }) };
  if (operation.op === "remove") {
    const { [name]: _gone, ...rest } = members;
    return rest;
  }
  if (operation.op === "test") return tested(members, { found: members[name], operation });
  // A computed name, also `__proto__`, becomes a member and nothing else.
  return { ...members, [name]: operation.value };
}

function changedList(
  list: readonly unknown[],
  { name, names, operation }: Step & { readonly name: string },
): readonly unknown[] {
  const adds = names.length === 0 && operation.op === "add";
  const end = adds ? list.length : list.length - 1;
  const index = adds && name === "-" ? end : /^(0|[1-9]\d*)$/.test(name) ? Number(name) : Infinity;
  if (index > end) throw fault(operation, `${quotedText(name)} is no place in a list`);
  const before = list.slice(0, index);
  const after = list.slice(index + 1);
  if (names.length > 0) return [...before, changed(list[index], { names, operation }), ...after];
  if (operation.op === "remove") return [...before, ...after];
  if (operation.op === "add") return [...before, operation.value, ...list.slice(index)];
  if (operation.op === "test") return tested(list, { found: list[index], operation });
  return [...before, operation.value, ...after];
}

function tested<T>(
  holder: T,
  { found, operation }: {
    readonly found: unknown;
    readonly operation: Extract<JSONPatchOperation, { readonly value: unknown }>;
  },
): T {
  if (!equal(found, operation.value)) throw fault(operation, "another value is there");
  return holder;
}

/** Whether two values are the same JSON; the order of members means nothing. */
function equal(one: unknown, other: unknown): boolean {
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) {
    return one === other;
  }
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const [ours, theirs] = [Object.entries(one), new Map(Object.entries(other))];
  return ours.length === theirs.size &&
    ours.every(([name, value]) => theirs.has(name) && equal(value, theirs.get(name)));
}

function fault({ op, path }: JSONPatchOperation, what: string): RangeError {
  return new RangeError(`Cannot apply a patch: ${op} ${quotedText(path)}: ${what}`);
}
