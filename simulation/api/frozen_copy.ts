/**
 * Immutable copies: what the store keeps may be handed out without another copy.
 *
 * @module
 */

const frozen = new WeakSet<object>();

/**
 * A deeply frozen copy of plain JSON data. Members that are undefined are left out, as on the wire.
 * Parts that are such copies already are shared, not copied, so a small change to a large object
 * costs little.
 */
export function frozenCopy<T>(value: T): T {
  return copy(value) as T;
}

function copy(value: unknown): unknown {
  if (typeof value !== "object" || value === null || frozen.has(value)) return value;
  const result: unknown[] | Record<string, unknown> = Array.isArray(value)
    ? value.map(copy)
    : Object.fromEntries(
      Object.entries(value)
        .filter(([, member]) => member !== undefined)
        .map(([name, member]) => [name, copy(member)]),
    );
  frozen.add(Object.freeze(result));
  return result;
}
