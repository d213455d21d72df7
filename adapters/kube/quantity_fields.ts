/**
 * Quantities in lists of resources, such as `limits` of a container or `hard` of a quota.
 *
 * @module
 */
import { parseBytes, parseBytesBound, parseCPU, parseCPUBound } from "../../shared/quantity.ts";
import { jsonText, memberOf } from "./json_fields.ts";

/**
 * Millicores under the name; undefined when there is nothing. Throws a `TypeError` when there is
 * something else than a quantity: a limit that can't be read is not the same as none. Throws a
 * `SyntaxError` for a bad quantity.
 */
export function cpuOf(resources: unknown, name = "cpu"): number | undefined {
  return quantityOf(resources, name, parseCPU);
}

/** As `cpuOf`, for a bound: one that is too far away to be counted binds nothing. */
export function cpuBoundOf(resources: unknown, name = "cpu"): number | undefined {
  return quantityOf(resources, name, parseCPUBound);
}

/** Bytes under `memory`; as `cpuOf`. */
export function memoryOf(resources: unknown): number | undefined {
  return quantityOf(resources, "memory", parseBytes);
}

/** As `memoryOf`, for a bound, as `cpuBoundOf`. */
export function memoryBoundOf(resources: unknown, name = "memory"): number | undefined {
  return quantityOf(resources, name, parseBytesBound);
}

function quantityOf(
  resources: unknown,
  name: string,
  parse: (text: string) => number,
): number | undefined {
  const value = memberOf({ resources }, "resources")[name];
  if (value === undefined || value === null) return undefined;
  // A whole number may come as a number from a hand-written object.
  if (typeof value === "number") return parse(String(value));
  if (typeof value === "string") return parse(value);
  throw new TypeError(`Cannot read quantity ${name}: it is ${jsonText(value)}`);
}
