/**
 * Objects with optional properties that are absent rather than undefined, as `exactOptionalPropertyTypes` wants.
 *
 * @module
 */

/** The properties of `T` that may be undefined are optional. */
export type Defined<T> =
  & { [K in keyof T as undefined extends T[K] ? never : K]: T[K] }
  & { [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined> };

/** The object without its undefined properties, in the same order. */
export function defined<T extends object>(object: T): Defined<T> {
  const entries = Object.entries(object).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Defined<T>;
}

/** The value, mapped where there is one. */
export function mapDefined<T, R>(value: T | undefined, map: (value: T) => R): R | undefined {
  return value === undefined ? undefined : map(value);
}
