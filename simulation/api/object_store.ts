/**
 * All objects of the simulated cluster. Calls act at once: latency and failures belong to the
 * requests that lead here, and a scene's own hand needs neither.
 *
 * @module
 */
import type { ConfigMap } from "../../shared/api/config_map.ts";
import type { EndpointSlice } from "../../shared/api/endpoint_slice.ts";
import type {
  HorizontalPodAutoscaler,
  VerticalPodAutoscaler,
} from "../../shared/api/autoscalers.ts";
import type { Lease } from "../../shared/api/lease.ts";
import type { LimitRange, Namespace, ResourceQuota } from "../../shared/api/namespace.ts";
import type { Node, PersistentVolume } from "../../shared/api/node.ts";
import type { PodDisruptionBudget } from "../../shared/api/pod_disruption_budget.ts";
import type { ReplicaSet, Workload } from "../../shared/api/workload.ts";
import type { Clock } from "../../shared/clock.ts";
import type { ApiObject } from "../../shared/api/object.ts";
import type { Random } from "../../shared/random.ts";
import { createObjectTable, type ObjectTable } from "./object_table.ts";
import { optimizationPolicyKind, recommendationReportKind } from "./optipod_kinds.ts";
import { podAllocationKind } from "./pod_allocation_kind.ts";
import { podKind } from "./pod_kind.ts";
import { randomHex } from "./random_hex.ts";
import type { KindName, StoredKind, StoredKinds } from "./stored_kind.ts";

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

/** Kinds whose status this product neither reads nor writes apart. */
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
  const seat = {
    nextVersion: () => ++version,
    newUID: () => randomUUID(random),
    monotonic: () => clock.monotonic(),
    wall: () => clock.wall(),
    changed: () => listeners.forEach((listener) => listener()),
    historyLimit,
  };
  const tables: ObjectTables = {
    Pod: createObjectTable(podKind, seat),
    Namespace: createObjectTable(plainKind<Namespace>("Namespace"), seat),
    Node: createObjectTable(plainKind<Node>("Node"), seat),
    PodAllocation: createObjectTable(podAllocationKind, seat),
    Lease: createObjectTable(plainKind<Lease>("Lease"), seat),
    LimitRange: createObjectTable(plainKind<LimitRange>("LimitRange"), seat),
    ResourceQuota: createObjectTable(plainKind<ResourceQuota>("ResourceQuota"), seat),
    Deployment: createObjectTable(plainKind<Workload>("Deployment"), seat),
    StatefulSet: createObjectTable(plainKind<Workload>("StatefulSet"), seat),
    DaemonSet: createObjectTable(plainKind<Workload>("DaemonSet"), seat),
    HorizontalPodAutoscaler: createObjectTable(
      plainKind<HorizontalPodAutoscaler>("HorizontalPodAutoscaler"),
      seat,
    ),
    VerticalPodAutoscaler: createObjectTable(
      plainKind<VerticalPodAutoscaler>("VerticalPodAutoscaler"),
      seat,
    ),
    OptimizationPolicy: createObjectTable(optimizationPolicyKind, seat),
    RecommendationReport: createObjectTable(recommendationReportKind, seat),
    ReplicaSet: createObjectTable(plainKind<ReplicaSet>("ReplicaSet"), seat),
    PodDisruptionBudget: createObjectTable(
      plainKind<PodDisruptionBudget>("PodDisruptionBudget"),
      seat,
    ),
    PersistentVolume: createObjectTable(plainKind<PersistentVolume>("PersistentVolume"), seat),
    ConfigMap: createObjectTable(plainKind<ConfigMap>("ConfigMap"), seat),
    EndpointSlice: createObjectTable(plainKind<EndpointSlice>("EndpointSlice"), seat),
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
