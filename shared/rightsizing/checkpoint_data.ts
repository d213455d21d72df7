/**
 * The checkpoints of one namespace, made to fit into one ConfigMap.
 *
 * @module
 */
import { type Coarseness, type ContainerSlots, encodeSlots } from "./usage_checkpoint.ts";

/**
 * A ConfigMap's values hold 2^20 bytes together (MaxSecretSize in k8s.io/kubernetes/pkg/apis/core, which
 * its validation uses). What is left of that is for keys that stand once more in `managedFields`.
 *
 * A container with 24 h of samples, one every 30 s, took 1.3 to 1.7 kB of it with one pod, and 2.5 to
 * 3.7 kB with ten, whose samples fill more buckets. So a ConfigMap holds about 600 such containers, or
 * 280; at the coarsest, with 0.9 and 1.3 kB, 1,100 or 770. Measured on thirteen services of a train
 * ticket system (metrics of Nezha, FSE 2023: 15 h by the minute, gone through until 24 h were full, each
 * minute twice; the ten pods are one service at ten times of the day).
 */
const MOST_BYTES = 1_000_000;

const COARSENESSES: readonly Coarseness[] = [0, 1, 2];

/** The data of a ConfigMap, and how much of what there is it holds. */
export interface CheckpointData {
  /** Text by key. */
  readonly data: Readonly<Record<string, string>>;
  /** Of keys and values together: both are ASCII. */
  readonly bytes: number;
  /** How much was lost for it; see {@linkcode encodeSlots}. */
  readonly coarseness: Coarseness;
  /** Keys of containers that did not fit and will begin anew after a restart, in order. */
  readonly leftOut: readonly string[];
}

/** How large the data may be. */
export interface CheckpointOptions {
  /** Bytes of keys and values. @default {1_000_000} */
  readonly mostBytes?: number;
}

/**
 * The texts of all containers by key, as fine as lets them all fit. Where even the coarsest do not, the
 * longest are left out, since that costs the fewest containers their history.
 */
export function checkpointData(
  containers: ReadonlyMap<string, ContainerSlots>,
  { mostBytes = MOST_BYTES }: CheckpointOptions = {},
): CheckpointData {
  const encoded = (coarseness: Coarseness): [string, string][] =>
    [...containers].map(([key, slots]) => [key, encodeSlots(slots, { coarseness })]);
  for (const coarseness of COARSENESSES) {
    const entries = encoded(coarseness);
    const bytes = sizeOf(entries);
    if (bytes <= mostBytes) {
      return { data: Object.fromEntries(entries), bytes, coarseness, leftOut: [] };
    }
  }
  return fitting(encoded(2), mostBytes);
}

/** As many as fit, the shortest first. */
function fitting(entries: readonly [string, string][], mostBytes: number): CheckpointData {
  const kept: [string, string][] = [];
  const leftOut: string[] = [];
  let bytes = 0;
  for (const entry of entries.toSorted((a, b) => sizeOf([a]) - sizeOf([b]))) {
    const size = sizeOf([entry]);
    if (bytes + size > mostBytes) {
      leftOut.push(entry[0]);
      continue;
    }
    kept.push(entry);
    bytes += size;
  }
  return { data: Object.fromEntries(kept), bytes, coarseness: 2, leftOut: leftOut.toSorted() };
}

function sizeOf(entries: readonly [string, string][]): number {
  return entries.reduce((sum, [key, text]) => sum + key.length + text.length, 0);
}
