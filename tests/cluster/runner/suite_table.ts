/**
 * Which test file runs when, and beside which others.
 *
 * @module
 */

/**
 * Where a file may run.
 *
 * - `beside`: needs the API server alone; runs beside anything but `alone`.
 * - `node`: has pods on the one node, whose market clears all of them together; one at a time.
 * - `components`: needs the product with its components, which are installed once for all of them.
 * - `alone`: changes the installed product, cluster-scoped objects or programs, or compares the whole
 *   node.
 */
export type Lane = "beside" | "node" | "components" | "alone";

/** Runs at every change, or when the commit's hash chooses the rotation. */
export type Layer = "core" | 1 | 2 | 3 | 4;

/** A test file of `tests/cluster/`. */
export interface SuiteFile {
  /** File name without `_test.ts`. */
  readonly name: string;
  readonly layer: Layer;
  readonly lane: Lane;
  /** Measured on two cores, alone: long files start first. */
  readonly seconds: number;
}

/** The number of rotations. */
export const ROTATIONS = 4;

type Row = readonly [name: string, layer: Layer, lane: Lane, seconds: number];

const ROWS: readonly Row[] = [
  ["market", "core", "node", 110],
  ["undo", "core", "node", 40],
  ["uninstall", "core", "alone", 40],
  ["rbac", "core", "beside", 30],
  ["crd", "core", "beside", 20],
  ["optimization_policy_crd", "core", "beside", 20],
  ["admission_policy", "core", "beside", 15],
  ["contract", "core", "alone", 60],
  ["eviction_contract", "core", "node", 10],
  ["workload_writer", "core", "beside", 5],
  ["rightsizing", "core", "components", 60],
  ["rightsizing_recreate", "core", "components", 100],
  ["placement_split", "core", "components", 120],

  ["lease_policy", 1, "beside", 10],
  ["limit_range", 1, "node", 60],
  ["market_decrease", 1, "node", 90],
  ["silent_agent", 4, "alone", 90],
  ["faults", 1, "alone", 150],
  ["hpa", 1, "node", 90],
  ["rightsizing_values", 1, "beside", 60],
  ["startup_boost", 1, "node", 40],
  ["cli", 1, "node", 20],

  ["placement_policy", 2, "beside", 30],
  ["fuzz", 2, "node", 120],
  ["guaranteed", 2, "node", 90],
  ["hpa_signal", 2, "node", 60],
  ["rightsizing_prometheus", 2, "components", 100],
  ["rightsizing_rights", 2, "beside", 60],
  ["autoscaler_view", 2, "alone", 20],
  ["gitops", 2, "node", 15],

  ["placement_nodes", 3, "components", 90],
  ["holds", 3, "node", 60],
  ["opt_out", 3, "alone", 80],
  ["policy_engine", 3, "node", 60],
  ["refusals", 3, "node", 90],
  ["rightsizing_new_pods", 3, "beside", 30],
  ["rightsizing_scope", 3, "beside", 30],
  ["server_versions", 3, "beside", 60],
  ["pod_security", 3, "beside", 10],
  ["disruption", 3, "node", 20],

  ["rightsizing_conflicts", 4, "components", 90],
  ["placement_replicas", 4, "alone", 120],
  ["vpa", 4, "alone", 100],
  ["metric_demand", 4, "alone", 80],
  ["node_conditions", 4, "alone", 90],
  ["priority", 4, "alone", 60],
  ["quota_headroom", 4, "alone", 60],
  ["crowded", 4, "alone", 120],
  ["harness", 4, "alone", 60],
  ["kubelet_settings", 4, "alone", 60],
  ["housekeeping", 4, "beside", 40],
  ["permission_proof", 4, "node", 20],
  ["rightsizing_policies", 4, "beside", 60],
  ["rightsizing_support", 4, "beside", 60],
];

/** All test files. */
export const SUITE_TABLE: readonly SuiteFile[] = ROWS.map(([name, layer, lane, seconds]) => ({
  name,
  layer,
  lane,
  seconds,
}));

/** The rotation that a commit's hash chooses: its first eight hexadecimal digits modulo four. */
export function rotationOf(hash: string): Exclude<Layer, "core"> {
  if (!/^[0-9a-f]{8}/i.test(hash)) {
    throw new RangeError(`Cannot choose a rotation: the commit is ${hash}, not a hash`);
  }
  return parseInt(hash.slice(0, 8), 16) % ROTATIONS + 1 as Exclude<Layer, "core">;
}
