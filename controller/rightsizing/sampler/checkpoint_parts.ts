/**
 * The history of a namespace as ConfigMaps: one, and further ones only where even coarse texts do not
 * fit into a single one.
 *
 * @module
 */
import { z } from "zod";
import { quotedText } from "../../../shared/quoted_text.ts";
import { checkpointData } from "../../../shared/rightsizing/checkpoint_data.ts";
import { restoredRings, slotsOf } from "../../../shared/rightsizing/container_rings.ts";
import type { ContainerSlots } from "../../../shared/rightsizing/usage_checkpoint.ts";
import type { Checkpoint } from "./ports.ts";
import type { HistoryOptions, NamespaceHistory, WorkloadHistory } from "./usage_history.ts";

/** What a checkpoint holds, and what of it could not be read, in sentences. */
export interface ReadCheckpoint {
  readonly namespace: string;
  readonly newestMs: number;
  /** By UID. */
  readonly workloads: ReadonlyMap<string, WorkloadHistory>;
  readonly faults: readonly string[];
}

/** Beside the containers, which stand under `<UID of the workload>.<container>`. */
const ABOUT = "about";
const VERSION = 1;
/** Below the 2^20 bytes of a ConfigMap's values: keys stand once more in `managedFields`. */
const MOST_BYTES = 1_000_000;

const aboutSchema = z.object({
  version: z.literal(VERSION),
  namespace: z.string().min(1).max(63),
  newestMs: z.number().min(0),
  workloads: z.record(
    z.string(),
    z.object({
      kind: z.enum(["Deployment", "StatefulSet", "DaemonSet"]),
      name: z.string().min(1),
      windowMs: z.number().int().min(1),
    }),
  ),
});

type About = z.infer<typeof aboutSchema>;

/** The checkpoints of a namespace; none where nothing was seen. Their names begin with `prefix`. */
export function writeCheckpoints(
  { workloads, newestMs }: NamespaceHistory,
  { namespace, prefix, mostBytes = MOST_BYTES }: {
    readonly namespace: string;
    readonly prefix: string;
    /** @default {1_000_000} */
    readonly mostBytes?: number;
  },
): readonly Checkpoint[] {
  const about: About = { version: VERSION, namespace, newestMs, workloads: {} };
  let rest = new Map<string, ContainerSlots>();
  for (const [uid, { workload: { kind, name }, containers }] of workloads) {
    for (const [container, rings] of containers) {
      about.workloads[uid] = { kind, name, windowMs: rings.cpu.windowMs };
      rest.set(`${uid}.${container}`, slotsOf(rings));
    }
  }
  const aboutText = JSON.stringify(about);
  const room = mostBytes - ABOUT.length - aboutText.length;
  const checkpoints: Checkpoint[] = [];
  while (rest.size > 0) {
    const { data, leftOut } = checkpointData(rest, { mostBytes: room });
    // What does not fit into a ConfigMap of its own can't be kept at all.
    if (leftOut.length === rest.size) break;
    // A namespace has no dots in its name, so no two of them share one here.
    const part = checkpoints.length === 0 ? namespace : `${namespace}.${checkpoints.length + 1}`;
    checkpoints.push({ name: `${prefix}${part}`, data: { ...data, [ABOUT]: aboutText } });
    const left = new Set(leftOut);
    rest = new Map([...rest].filter(([key]) => left.has(key)));
  }
  return checkpoints;
}

/** Reads one. What is damaged is left out and told. */
export function readCheckpoint(
  { name, data }: Checkpoint,
  { nowMs, slots }: HistoryOptions & { readonly nowMs: number },
): ReadCheckpoint | { readonly fault: string } {
  const { success, data: about } = aboutSchema.safeParse(jsonOf(data[ABOUT]));
  if (!success) return { fault: `${name} has no readable key ${ABOUT} of version ${VERSION}` };
  const workloads = new Map<string, WorkloadHistory>();
  const faults: string[] = [];
  for (const [key, text] of Object.entries(data)) {
    if (key === ABOUT) continue;
    const dot = key.indexOf(".");
    const [uid, container] = [key.slice(0, Math.max(0, dot)), key.slice(dot + 1)];
    const known = Object.hasOwn(about.workloads, uid) ? about.workloads[uid] : undefined;
    if (known === undefined) {
      faults.push(`${name}, key ${quotedText(key)}: it is of no workload`);
      continue;
    }
    const { kind, name: workloadName, windowMs } = known;
    const { rings, fault } = restoredRings(text, {
      shape: slots === undefined ? { windowMs } : { windowMs, slots },
      nowMs,
    });
    if (fault !== undefined) {
      faults.push(`${name}, key ${quotedText(key)}: ${fault}`);
      continue;
    }
    const workload = { kind, name: workloadName, uid };
    const history = workloads.get(uid) ?? { workload, containers: new Map() };
    history.containers.set(container, rings);
    workloads.set(uid, history);
  }
  const { namespace, newestMs } = about;
  return { namespace, newestMs: Math.min(newestMs, nowMs), workloads, faults };
}

function jsonOf(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? "");
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
