/**
 * All objects of the simulated cluster. Calls act at once: latency and failures belong to the
 * requests that lead here, and a scene's own hand needs neither.
 *
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import { ApiError } from "../../../shared/api/api_error.ts";
import type { ApiObject } from "../../../shared/api/object.ts";
import type { Clock } from "../../../shared/clock.ts";
import { objectKey } from "../../../shared/control/object_key.ts";
import { type Random, randomHex } from "../../../shared/random.ts";
import { EventLog } from "./event_sink.ts";
import { type KindName, KINDS, type StoredKind, type StoredKinds } from "./kinds.ts";

/** One table a kind. */
export type ObjectTables = { readonly [K in KindName]: ObjectTable<StoredKinds[K]> };

/** All objects. */
export interface ObjectStore {
  readonly tables: ObjectTables;
  /** Version of the last write, of whatever kind. */
  version(): number;
  /** Lets the next write have at least this version, as after writes of other kinds. */
  skipTo(version: number): void;
  /** Forgets the history up to and including `version`: watches from before get 410. */
  compact(version: number): void;
  /** Calls `listener` after each write, until the returned function is called. */
  onChange(listener: () => void): () => void;
}

/** A random (version 4) UUID, RFC 9562. */
function randomUUID(random: Random): string {
  const hex = randomHex(random, 32);
  const variant = "89ab".charAt(Math.floor(random.next() * 4));
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20),
  ].join("-");
}

/** An empty store. */
export function createObjectStore(
  { clock, random }: { readonly clock: Clock; readonly random: Random },
): ObjectStore {
  const listeners = new Set<() => void>();
  let version = 0;
  const shared: SharedByTables = {
    clock,
    nextVersion: () => ++version,
    newUID: () => randomUUID(random),
    changed: () => listeners.forEach((listener) => listener()),
  };
  const tables = Object.fromEntries(
    Object.entries(KINDS).map(([name, kind]) => {
      const named = { ...kind as StoredKind<ApiObject>, name };
      return [name, new ObjectTable(named, shared)] as const;
    }),
  );
  return {
    tables: tables as unknown as ObjectTables,
    version: () => version,
    skipTo(next) {
      version = Math.max(version, next - 1);
    },
    compact(to) {
      for (const { log } of Object.values(tables)) log.compact(Math.min(to, version));
    },
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

interface NamedKind<T extends ApiObject> extends StoredKind<T> {
  readonly name: string;
}

/** Counters and callbacks that all tables of a store share. */
interface SharedByTables {
  readonly clock: Clock;
  /** Counts one write and returns the new version. */
  nextVersion(): number;
  newUID(): string;
  /** Called after each write. */
  changed(): void;
}

/** The objects of one kind. All that is handed out is frozen; the keys are those of `objectKey()`. */
export class ObjectTable<T extends ApiObject> {
  readonly log: EventLog<T> = new EventLog();
  readonly #kind: NamedKind<T>;
  readonly #shared: SharedByTables;
  readonly #objects = new Map<string, T>();

  constructor(kind: NamedKind<T>, shared: SharedByTables) {
    this.#kind = kind;
    this.#shared = shared;
  }

  get(key: string): T | undefined {
    return this.#objects.get(key);
  }

  /** All objects in the order of their creation. */
  all(): readonly T[] {
    return [...this.#objects.values()];
  }

  /** The node to which an object belongs; undefined for kinds that have none. */
  nodeName(object: T): string | undefined {
    return this.#kind.nodeName?.(object);
  }

  /** Stores a new object without its status. Throws 409 `AlreadyExists`, 422. */
  create(object: T): T {
    return this.seed(this.#withStatus(object, undefined));
  }

  /** Stores a new object as it is, status included: how a scene begins. Throws 409, 422. */
  seed(object: T): T {
    const key = objectKey(object.metadata);
    if (this.#objects.has(key)) throw this.#error(409, "AlreadyExists", key, " already exists");
    const { clock, newUID } = this.#shared;
    const uid = object.metadata.uid === "" ? newUID() : object.metadata.uid;
    const made = this.#kind.hasGeneration
      ? { generation: 1, creationTimestamp: new Date(clock.wall()).toISOString() }
      : {};
    return this.#store({ ...object, metadata: { ...object.metadata, uid, ...made } }, undefined);
  }

  /** Writes metadata and spec. Throws 404, 409 `Conflict` when the version is another one, 422. */
  replace(object: T): T {
    const stored = this.#current(object);
    return this.#update(stored, this.#withStatus(object, stored));
  }

  /** Writes the status alone; errors as in `replace`. */
  replaceStatus(object: T): T {
    const stored = this.#current(object);
    return this.#update(stored, this.#withStatus(stored, object));
  }

  /** Changes what is stored, whatever its version: how the server applies a patch. Throws 404, 422. */
  modify(key: string, change: (stored: T) => T): T {
    const stored = this.#find(key);
    return this.#update(stored, change(stored));
  }

  /** Removes the object. Throws 404, and 409 when `uid` is given and another one. */
  remove(key: string, uid?: string): T {
    const before = this.#find(key);
    if (uid !== undefined && uid !== before.metadata.uid) {
      const problem = `: the UID in the precondition is ${uid}, not ${before.metadata.uid}`;
      throw this.#error(409, "Conflict", key, problem);
    }
    this.#objects.delete(key);
    return this.#note(before, { before, isThere: false });
  }

  #withStatus(spec: T, from: T | undefined): T {
    return this.#kind.withStatus?.(spec, from) ?? spec;
  }

  #error(status: number, reason: string, key: string, problem: string): ApiError {
    return new ApiError(status, reason, `${this.#kind.name} "${key}"${problem}`);
  }

  #find(key: string): T {
    const object = this.#objects.get(key);
    if (object === undefined) throw this.#error(404, "NotFound", key, " not found");
    return object;
  }

  #current(written: T): T {
    const key = objectKey(written.metadata);
    const stored = this.#find(key);
    const { uid, resourceVersion } = written.metadata;
    if (uid !== stored.metadata.uid || resourceVersion !== stored.metadata.resourceVersion) {
      throw this.#error(409, "Conflict", key, ": the object has been modified");
    }
    return stored;
  }

  /**
   * Stores `next` unless it says the same as `before`: then no version is spent and no watch notified.
   */
  #update(before: T, next: T): T {
    const { generation, creationTimestamp } = before.metadata as {
      readonly generation?: number;
      readonly creationTimestamp?: string;
    };
    const metadata = {
      ...next.metadata,
      uid: before.metadata.uid,
      resourceVersion: before.metadata.resourceVersion,
      ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
      ...(generation === undefined ? {} : { generation }),
    };
    const plain = frozenCopy({ ...next, metadata });
    if (isDeepStrictEqual(plain, before)) return before;
    if (generation === undefined) return this.#store(plain, before);
    const { metadata: _before, ...oldSpec } = this.#withStatus(before, undefined);
    const { metadata: _next, ...newSpec } = this.#withStatus(plain, undefined);
    const counted = generation + (isDeepStrictEqual(newSpec, oldSpec) ? 0 : 1);
    return this.#store({ ...plain, metadata: { ...metadata, generation: counted } }, before);
  }

  #store(object: T, before: T | undefined): T {
    // The version is counted last: a refused write leaves no trace.
    return this.#note(this.#kind.admit?.(object, before) ?? object, { before, isThere: true });
  }

  /** Counts and logs a write; returns the object with its version. */
  #note(
    object: T,
    { before, isThere }: { readonly before: T | undefined; readonly isThere: boolean },
  ): T {
    const version = this.#shared.nextVersion();
    const metadata = { ...object.metadata, resourceVersion: String(version) };
    const noted = frozenCopy({ ...object, metadata });
    if (isThere) this.#objects.set(objectKey(metadata), noted);
    const atMs = this.#shared.clock.monotonic();
    this.log.append({ version, atMs, before, after: isThere ? noted : undefined, object: noted });
    this.#shared.changed();
    return noted;
  }
}

const frozen = new WeakSet<object>();

/**
 * A deeply frozen copy of plain JSON data. Members that are undefined are left out, as on the wire.
 * Parts that are such copies already are shared, not copied, so a small change to a large object
 * costs little.
 */
export function frozenCopy<T>(value: T): T {
  if (typeof value !== "object" || value === null || frozen.has(value)) return value;
  const result: object = Array.isArray(value) ? value.map(frozenCopy) : Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .map(([name, member]) => [name, frozenCopy(member)]),
  );
  frozen.add(Object.freeze(result));
  return result as T;
}

/**
 * Removes allocations `delayMs` after the loss of their pod from now on. An allocation that is created
 * for a pod that is gone goes as well.
 */
export function startGarbageCollector(
  { store, clock, delayMs }: {
    readonly store: ObjectStore;
    readonly clock: Clock;
    readonly delayMs: number;
  },
): void {
  const { Pod: pods, PodAllocation: allocations } = store.tables;
  let seen = store.version();

  function collect(ownerUID: string): void {
    if (pods.all().some((pod) => pod.metadata.uid === ownerUID)) return;
    for (const { metadata } of allocations.all()) {
      if (metadata.ownerReferences?.some(({ uid }) => uid === ownerUID)) {
        allocations.remove(objectKey(metadata), metadata.uid);
      }
    }
  }

  function collectLater(ownerUID: string): void {
    // Never rejects: neither `sleep` nor `collect` throws.
    void clock.sleep(delayMs).then(() => collect(ownerUID));
  }

  store.onChange(() => {
    const from = seen;
    seen = store.version();
    for (let at = pods.log.after(from), entry = pods.log.at(at); entry; entry = pods.log.at(++at)) {
      if (entry.after === undefined) collectLater(entry.object.metadata.uid);
    }
    const created = allocations.log;
    for (let at = created.after(from), entry = created.at(at); entry; entry = created.at(++at)) {
      const owners = entry.before === undefined ? entry.object.metadata.ownerReferences : [];
      for (const { uid } of owners ?? []) {
        if (!pods.all().some((pod) => pod.metadata.uid === uid)) collectLater(uid);
      }
    }
  });
}
