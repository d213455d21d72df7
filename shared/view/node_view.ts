/**
 * The view of an agent's node: the answer to `GET /view`, which the command line and the
 * dashboard read. CPU in millicores, times in milliseconds.
 *
 * @module
 */
import * as z from "zod";
import { NODE_PRESSURES } from "../api/node.ts";
import { boundsSchema, containerBoundsSchema } from "../api/pod_allocation.ts";
import { IDLE_CPU } from "../config/schema.ts";
import { NODE_STATES } from "../scarcity/node_state.ts";

const millicores = z.number().min(0);
/** 1/core; null when infinite. */
const price = z.number().min(0).nullable();
/**
 * PSI: at least one task waited for CPU, by contention or by a quota. `share` is that of the last
 * 10 s, `seconds` counts since the cgroup was made.
 */
const cpuPressure = z.object({ share: z.number().min(0), seconds: z.number().min(0) });
const mode = z.enum(["uncongested", "congested", "overloaded"]);

/** One container in the market. */
export const containerViewSchema = z.object({
  name: z.string(),
  /** The hex id, without the runtime's scheme. */
  id: z.string(),
  /** Used over the last interval; absent while there are no readings. */
  usage: millicores.optional(),
  /** Runnable time that a quota took away, per second, summed over threads; absent where `usage` is. */
  throttledMsPerSecond: z.number().min(0).optional(),
  /** Share of the last interval's enforcement periods in which a quota ran out, 0 to 1. */
  throttledShare: z.number().min(0).max(1).optional(),
  /**
   * Its usage if nothing limited it, or the demand by a metric; absent while there are no readings.
   */
  demand: millicores.optional(),
  /** Demand within floor and ceiling. */
  need: millicores,
  /** The limit that the clearing gives for the need. */
  share: millicores,
  /** Where the limit goes when pacing allows it: `share`, or the ceiling while CPU is free. */
  target: millicores,
  /** Bounds of the limit, holds included. */
  floor: millicores,
  ceiling: millicores,
  weight: z.number().min(0),
  /** Factor on the weight, earned by leaving CPU to others. */
  credit: z.number().min(0),
  held: containerBoundsSchema.shape.held,
  /** The original limit. */
  originalLimit: millicores,
  /** The limit that the agent decided last. */
  limit: millicores,
  /** The quota in the cgroup now; absent when there is none or no readings. */
  enforced: millicores.optional(),
  /** True when the kernel has no quota for it and none is expected: its limit is not enforced. */
  quotaOff: z.literal(true).optional(),
  /** Reason of the last change of the limit; absent before the first. */
  reason: z.string().optional(),
  /** Why the limit is not at the target yet, as a message; absent when it is. */
  waiting: z.string().optional(),
});

/** One pod in the market; sums over its containers, unless said otherwise. */
export const podViewSchema = z.object({
  namespace: z.string(),
  pod: z.string(),
  uid: z.string(),
  /** Absent while no container has readings; so are `throttledMsPerSecond` and `enforced`. */
  usage: millicores.optional(),
  throttledMsPerSecond: z.number().min(0).optional(),
  /** Absent where the kernel offers none. */
  cpuPressure: cpuPressure.optional(),
  demand: millicores,
  need: millicores,
  limit: millicores,
  enforced: millicores.optional(),
  floor: millicores,
  ceiling: millicores,
  originalLimit: millicores,
  /** The node's at the last clearing. */
  price,
  /** Reason that was last written for the pod; absent before the first write. */
  reason: z.string().optional(),
  /** The revision of the bounds that the clearing used, and what bounds the pod. */
  bounds: boundsSchema.pick({ revision: true, reason: true }),
  containers: z.array(containerViewSchema),
});

/** A node, as of its last clearing. */
export const nodeViewSchema = z.object({
  node: z.string(),
  /** RFC 3339, by the node's clock. */
  at: z.iso.datetime(),
  mode,
  /** Whether CPU is ample or scarce, and for how many seconds. */
  state: z.enum(NODE_STATES),
  stateSeconds: z.number().min(0),
  /** How CPU is used that no container needs. */
  idleCPU: z.enum(IDLE_CPU),
  /** Why no limit of the node is moved; absent while they move. */
  held: z.string().optional(),
  price,
  allocatable: millicores,
  /**
   * CPU that the market may share: allocatable less reserve, pressure and `unmanaged`. Where idle CPU is
   * free, at least the same share of what processes outside of the market leave unused.
   */
  capacity: millicores,
  /** Held by pods that take no part. */
  unmanaged: millicores,
  /** Conditions of the node that make `capacity` smaller; absent where there are none. */
  pressures: z.array(z.enum(NODE_PRESSURES)).optional(),
  /** Part of `capacity` that limits hold now, idle floors counted by their needs. */
  committed: millicores,
  /** Absent where the kernel offers none. */
  cpuPressure: cpuPressure.optional(),
  /** How long work may wait for its quota, ms. */
  waitMs: z.number().min(0),
  pods: z.array(podViewSchema),
});

/** One container in the market. */
export type ContainerView = z.infer<typeof containerViewSchema>;
/** One pod in the market. */
export type PodView = z.infer<typeof podViewSchema>;
/** A node, as of its last clearing. */
export type NodeView = z.infer<typeof nodeViewSchema>;
