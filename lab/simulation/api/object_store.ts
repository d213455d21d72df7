/**
 * All objects of the simulated cluster. Calls act at once: latency and failures belong to the
 * requests that lead here, and a scene's own hand needs neither.
 *
 * @module
 */
import type { ConfigMap } from "../../../shared/api/config_map.ts";
import type { EndpointSlice } from "../../../shared/api/endpoint_slice.ts";
import type {
  HorizontalPodAutoscaler,
  VerticalPodAutoscaler,
} from "../../../shared/api/autoscalers.ts";
import type { Lease } from "../../../shared/api/lease.ts";
import type { LimitRange, Namespace, ResourceQuota } from "../../../shared/api/namespace.ts";
import type { Node, PersistentVolume } from "../../../shared/api/node.ts";
import type { PodDisruptionBudget } from "../../../shared/api/pod_disruption_budget.ts";
import type { ReplicaSet, Workload } from "../../../shared/api/workload.ts";
import type { Clock } from "../../../shared/clock.ts";
import type { ApiObject } from "../../../shared/api/object.ts";
import type { Random } from "../../../shared/random.ts";
import {
  type KindName,
  optimizationPolicyKind,
  podAllocationKind,
  podKind,
  recommendationReportKind,
  type StoredKind,
  type StoredKinds,
} from "./kinds.ts";
import { randomHex } from "./random_hex.ts";
import { isDeepStrictEqual } from "node:util";
import { ApiError } from "../../../shared/api/api_error.ts";
import { objectKey } from "../../../shared/control/object_key.ts";
import { createEventLog, type EventLog } from "./event_sink.ts";

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

/** What the store needs. */
export interface ObjectStoreOptions {
  readonly clock: Clock;
  readonly random: Random;
  /**
   * Writes per kind that are kept for watches at least.
   *
   * @default {5000}
   */
  readonly historyLimit?: number;
}

/** Kinds without a separate status for this product. */
function plainKind<T extends ApiObject>(kind: KindName): StoredKind<T> {
  return {
    kind,
    hasGeneration: false,
    withoutStatus: (written) => written,
    takeSpec: (_stored, written) => written,
    takeStatus: (_stored, written) => written,
    admit: (object) => object,
  };
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
export function createObjectStore(options: ObjectStoreOptions): ObjectStore {
  const { clock, random, historyLimit = 5000 } = options;
  const listeners = new Set<() => void>();
  let version = 0;
  const shared = {
    nextVersion: () => ++version,
    newUID: () => randomUUID(random),
    monotonic: () => clock.monotonic(),
    wall: () => clock.wall(),
    changed: () => listeners.forEach((listener) => listener()),
    historyLimit,
  };
  const tables: ObjectTables = {
    Pod: createObjectTable(podKind, shared),
    Namespace: createObjectTable(plainKind<Namespace>("Namespace"), shared),
    Node: createObjectTable(plainKind<Node>("Node"), shared),
    PodAllocation: createObjectTable(podAllocationKind, shared),
    Lease: createObjectTable(plainKind<Lease>("Lease"), shared),
    LimitRange: createObjectTable(plainKind<LimitRange>("LimitRange"), shared),
    ResourceQuota: createObjectTable(plainKind<ResourceQuota>("ResourceQuota"), shared),
    Deployment: createObjectTable(plainKind<Workload>("Deployment"), shared),
    StatefulSet: createObjectTable(plainKind<Workload>("StatefulSet"), shared),
    DaemonSet: createObjectTable(plainKind<Workload>("DaemonSet"), shared),
    HorizontalPodAutoscaler: createObjectTable(
      plainKind<HorizontalPodAutoscaler>("HorizontalPodAutoscaler"),
      shared,
    ),
    VerticalPodAutoscaler: createObjectTable(
      plainKind<VerticalPodAutoscaler>("VerticalPodAutoscaler"),
      shared,
    ),
    OptimizationPolicy: createObjectTable(optimizationPolicyKind, shared),
    RecommendationReport: createObjectTable(recommendationReportKind, shared),
    ReplicaSet: createObjectTable(plainKind<ReplicaSet>("ReplicaSet"), shared),
    PodDisruptionBudget: createObjectTable(
      plainKind<PodDisruptionBudget>("PodDisruptionBudget"),
      shared,
    ),
    PersistentVolume: createObjectTable(plainKind<PersistentVolume>("PersistentVolume"), shared),
    ConfigMap: createObjectTable(plainKind<ConfigMap>("ConfigMap"), shared),
    EndpointSlice: createObjectTable(plainKind<EndpointSlice>("EndpointSlice"), shared),
  };
  return {
    tables,
    version: () => version,
    skipTo(next) {
      version = Math.max(version, next - 1);
    },
    compact(to) {
      for (const table of Object.values(tables)) table.log.compact(Math.min(to, version));
    },
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** What all tables of a store share. */
export interface TableEntry {
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
  shared: TableEntry,
): ObjectTable<T> {
  const objects = new Map<string, T>();
  const log = createEventLog<T>(shared.historyLimit);

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
    const version = shared.nextVersion();
    const after = frozenCopy({
      ...admitted,
      metadata: { ...admitted.metadata, resourceVersion: String(version) },
    });
    objects.set(objectKey(after.metadata), after);
    log.append({ version, atMs: shared.monotonic(), before, after, object: after });
    shared.changed();
    return after;
  }

  function add(object: T): T {
    const key = objectKey(object.metadata);
    if (objects.has(key)) {
      throw new ApiError(409, "AlreadyExists", `${kind.kind} "${key}" already exists`);
    }
    const uid = object.metadata.uid === "" ? shared.newUID() : object.metadata.uid;
    return store({ ...object, metadata: { ...object.metadata, uid } }, undefined, {
      ...(kind.hasGeneration
        ? { generation: 1, creationTimestamp: new Date(shared.wall()).toISOString() }
        : {}),
    });
  }

  /**
   * Stores `next` unless it says the same as `before`: then no version is spent and no watch notified.
   */
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
      const version = shared.nextVersion();
      const metadata = { ...before.metadata, resourceVersion: String(version) };
      const object = frozenCopy({ ...before, metadata });
      log.append({ version, atMs: shared.monotonic(), before, after: undefined, object });
      shared.changed();
      return object;
    },
    log,
    nodeName: (object) => kind.nodeName?.(object),
  };
}

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
