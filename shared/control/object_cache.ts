/**
 * Objects by key, and optionally by other values: the copy of an informer.
 *
 * @module
 */
import type { ApiObject } from "../api/object.ts";
import { objectKey } from "./object_key.ts";

/** Values under which an object is found; undefined: none. */
export type IndexBy<T> = (object: T) => string | readonly string[] | undefined;

/** The key of an object that changed, and the object before the change; undefined: there was none. */
export type Change<T> = readonly [key: string, before: T | undefined];

/** Objects by key. */
export interface ObjectCache<T extends ApiObject> {
  get(key: string): T | undefined;
  /** The objects for which `indexBy` has this value. */
  byIndex(value: string): readonly T[];
  all(): Iterable<T>;
  /** Stores the object. */
  put(object: T): Change<T>;
  /** Removes the object under the same key. */
  remove(object: T): Change<T>;
  /** Keeps exactly these objects; returns those that appeared, changed version or went. */
  replaceAll(objects: readonly T[]): readonly Change<T>[];
}

/** An empty cache. */
export function createObjectCache<T extends ApiObject>(
  indexBy?: IndexBy<T>,
): ObjectCache<T> {
  const byKey = new Map<string, T>();
  const index = new Map<string, Map<string, T>>();

  function valuesOf(object: T): readonly string[] {
    const values = indexBy?.(object);
    return typeof values === "string" ? [values] : values ?? [];
  }

  function drop(key: string): T | undefined {
    const old = byKey.get(key);
    if (old === undefined) return undefined;
    byKey.delete(key);
    for (const value of valuesOf(old)) {
      const group = index.get(value);
      group?.delete(key);
      if (group?.size === 0) index.delete(value);
    }
    return old;
  }

  function store(key: string, object: T): T | undefined {
    const old = drop(key);
    byKey.set(key, object);
    for (const value of valuesOf(object)) {
      const group = index.get(value) ?? new Map<string, T>();
      index.set(value, group.set(key, object));
    }
    return old;
  }

  return {
    get: (key) => byKey.get(key),
    byIndex: (value) => [...(index.get(value)?.values() ?? [])],
    all: () => byKey.values(),
    put(object) {
      const key = objectKey(object.metadata);
      return [key, store(key, object)];
    },
    remove(object) {
      const key = objectKey(object.metadata);
      return [key, drop(key)];
    },
    replaceAll(objects) {
      const next = new Map(objects.map((object) => [objectKey(object.metadata), object]));
      const gone = [...byKey.keys()].filter((key) => !next.has(key));
      const changed = [...next].filter(([key, object]) =>
        byKey.get(key)?.metadata.resourceVersion !== object.metadata.resourceVersion
      );
      const keys = [...gone, ...changed.map(([key]) => key)];
      const changes = keys.map((key): Change<T> => [key, byKey.get(key)]);
      gone.forEach(drop);
      for (const [key, object] of changed) store(key, object);
      return changes;
    },
  };
}
