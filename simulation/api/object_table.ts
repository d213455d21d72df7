/**
 * The objects of one kind, with the rules of the API server: versions, UIDs, optimistic
 * concurrency, and spec and status that are written apart.
 *
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import { ApiError } from "../../shared/api/api_error.ts";
import type { ApiObject } from "../../shared/api/object.ts";
import { objectKey } from "../../shared/control/object_key.ts";
import { createEventLog, type EventLog } from "./event_log.ts";
import { frozenCopy } from "./frozen_copy.ts";
import type { StoredKind } from "./stored_kind.ts";

/** What all tables of a store share. */
export interface TableSeat {
  /** Counts one write and returns the new version. */
  nextVersion(): number;
  newUID(): string;
  monotonic(): number;
  wall(): number;
  /** Called after each write. */
  changed(): void;
  /** Entries that a log keeps at least. */
  readonly historyLimit: number;
}

/** The objects of one kind. All that is handed out is frozen; the keys are those of `objectKey()`. */
export interface ObjectTable<T extends ApiObject> {
  get(key: string): T | undefined;
  /** All objects in the order of their creation. */
  all(): readonly T[];
  /** Stores a new object without its status. Throws 409 `AlreadyExists`, 422. */
  create(object: T): T;
  /** Stores a new object as it is, status included: how a scene begins. Throws 409, 422. */
  seed(object: T): T;
  /** Writes metadata and spec. Throws 404, 409 `Conflict` when the version is another one, 422. */
  replace(object: T): T;
  /** Writes the status alone; errors as in `replace`. */
  replaceStatus(object: T): T;
  /** Changes what is stored, whatever its version: how the server applies a patch. Throws 404, 422. */
  modify(key: string, change: (stored: T) => T): T;
  /** Removes the object. Throws 404, and 409 when `uid` is given and another one. */
  remove(key: string, uid?: string): T;
  readonly log: EventLog<T>;
  /** The node to which an object belongs; undefined for kinds that have none. */
  nodeName(object: T): string | undefined;
}

/** Metadata that only the server writes. */
interface ServerMetadata {
  readonly generation?: number;
  readonly creationTimestamp?: string;
}

/** An empty table. */
// deno-lint-ignore house/function-length
export function createObjectTable<T extends ApiObject>(
  kind: StoredKind<T>,
  seat: TableSeat,
): ObjectTable<T> {
  const objects = new Map<string, T>();
  const log = createEventLog<T>(seat.historyLimit);

  function find(key: string): T {
    const object = objects.get(key);
    if (object === undefined) {
      throw new ApiError(404, "NotFound", `${kind.kind} "${key}" not found`);
    }
    return object;
  }

  function store(object: T, before: T | undefined, metadata: ServerMetadata): T {
    // The version is counted last: a refused write leaves no trace.
    const admitted = kind.admit(
      { ...object, metadata: { ...object.metadata, ...metadata } },
      before,
    );
    const version = seat.nextVersion();
    const after = frozenCopy({
      ...admitted,
      metadata: { ...admitted.metadata, resourceVersion: String(version) },
    });
    objects.set(objectKey(after.metadata), after);
    log.append({ version, atMs: seat.monotonic(), before, after, object: after });
    seat.changed();
    return after;
  }

  function add(object: T): T {
    const key = objectKey(object.metadata);
    if (objects.has(key)) {
      throw new ApiError(409, "AlreadyExists", `${kind.kind} "${key}" already exists`);
    }
    const uid = object.metadata.uid === "" ? seat.newUID() : object.metadata.uid;
    return store({ ...object, metadata: { ...object.metadata, uid } }, undefined, {
      ...(kind.hasGeneration
        ? { generation: 1, creationTimestamp: new Date(seat.wall()).toISOString() }
        : {}),
    });
  }

  /** Stores `next` unless it says the same as `before`: then no version is spent and nobody told. */
  function update(before: T, next: T): T {
    const { generation, creationTimestamp } = before.metadata as ServerMetadata;
    const metadata = {
      ...next.metadata,
      uid: before.metadata.uid,
      resourceVersion: before.metadata.resourceVersion,
      ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
      ...(generation === undefined ? {} : { generation }),
    };
    const plain = frozenCopy({ ...next, metadata });
    if (isDeepStrictEqual(plain, before)) return before;
    if (generation === undefined) return store(plain, before, {});
    const { metadata: _before, ...oldSpec } = kind.withoutStatus(before);
    const { metadata: _next, ...newSpec } = kind.withoutStatus(plain);
    const changed = !isDeepStrictEqual(newSpec, oldSpec);
    return store(plain, before, { generation: generation + (changed ? 1 : 0) });
  }

  function current(written: T): T {
    const key = objectKey(written.metadata);
    const stored = find(key);
    const { uid, resourceVersion } = written.metadata;
    if (uid !== stored.metadata.uid || resourceVersion !== stored.metadata.resourceVersion) {
      throw new ApiError(409, "Conflict", `${kind.kind} "${key}": the object has been modified`);
    }
    return stored;
  }

  return {
    get: (key) => objects.get(key),
    all: () => [...objects.values()],
    create: (object) => add(kind.withoutStatus(object)),
    seed: add,
    replace(object) {
      const stored = current(object);
      return update(stored, kind.takeSpec(stored, object));
    },
    replaceStatus(object) {
      const stored = current(object);
      const next = kind.takeStatus(stored, object);
      return update(stored, { ...next, metadata: stored.metadata });
    },
    modify(key, change) {
      const stored = find(key);
      return update(stored, change(stored));
    },
    remove(key, uid) {
      const before = find(key);
      if (uid !== undefined && uid !== before.metadata.uid) {
        throw new ApiError(
          409,
          "Conflict",
          `${kind.kind} "${key}": the UID in the precondition is ${uid}, not ${before.metadata.uid}`,
        );
      }
      objects.delete(key);
      const version = seat.nextVersion();
      const metadata = { ...before.metadata, resourceVersion: String(version) };
      const object = frozenCopy({ ...before, metadata });
      log.append({ version, atMs: seat.monotonic(), before, after: undefined, object });
      seat.changed();
      return object;
    },
    log,
    nodeName: (object) => kind.nodeName?.(object),
  };
}
