/**
 * The history of a namespace as the data of ConfigMaps: one, and further ones only where a single one
 * could not hold it.
 *
 * @module
 */
import { z } from "zod";
import { quotedText } from "../../../shared/quoted_text.ts";
import type { Checkpoint, ContainerRings, RingKeeping } from "./ports.ts";
import type { NamespaceHistory, WorkloadHistory } from "./usage_history.ts";

/** What a checkpoint holds, and what of it could not be read, in sentences. */
export interface ReadCheckpoint {
  readonly namespace: string;
  readonly newestMs: number;
  readonly workloads: ReadonlyMap<string, WorkloadHistory>;
  readonly faults: readonly string[];
}

/** Beside the workloads, which stand under their UIDs. */
const ABOUT = "about";
const VERSION = 1;
/** A ConfigMap may have 1 MiB (k8s.io/api/core/v1, ConfigMap); all here is ASCII. */
const MOST_CHARACTERS = 900_000;

const aboutSchema = z.object({
  version: z.literal(VERSION),
  namespace: z.string().min(1).max(63),
  newestMs: z.number().min(0),
});

const workloadSchema = z.object({
  kind: z.enum(["Deployment", "StatefulSet", "DaemonSet"]),
  name: z.string().min(1),
  windowMs: z.number().positive(),
  containers: z.record(z.string(), z.string()),
});

/** The checkpoints of a namespace; none where there are no workloads. Names begin with `prefix`. */
export function writeCheckpoints(
  { workloads, newestMs }: NamespaceHistory,
  { namespace, prefix, keeping, mostCharacters = MOST_CHARACTERS }: {
    readonly namespace: string;
    readonly prefix: string;
    readonly keeping: Pick<RingKeeping, "encode">;
    /** @default {900000} */
    readonly mostCharacters?: number;
  },
): readonly Checkpoint[] {
  const about = JSON.stringify({ version: VERSION, namespace, newestMs });
  const parts: Record<string, string>[] = [];
  let room = 0;
  for (const [uid, history] of workloads) {
    const text = workloadText(history, keeping);
    if (text === undefined) continue;
    const size = uid.length + text.length;
    if (parts.length === 0 || size > room) {
      parts.push({ [ABOUT]: about });
      room = mostCharacters - about.length;
    }
    Object.assign(parts.at(-1) ?? {}, { [uid]: text });
    room -= size;
  }
  // A namespace has no dots in its name, so no two of them share one here.
  const nameOf = (index: number): string => index === 0 ? namespace : `${namespace}.${index + 1}`;
  return parts.map((data, index) => ({ name: `${prefix}${nameOf(index)}`, data }));
}

/** Undefined for a workload of which nothing was seen. */
function workloadText(
  { workload, containers }: WorkloadHistory,
  keeping: Pick<RingKeeping, "encode">,
): string | undefined {
  const [windowMs] = Array.from(containers.values(), ({ cpu }) => cpu.windowMs);
  if (windowMs === undefined) return undefined;
  const texts = Array.from(containers, ([name, rings]) => [name, keeping.encode(rings)] as const);
  const { kind, name } = workload;
  return JSON.stringify({ kind, name, windowMs, containers: Object.fromEntries(texts) });
}

/** Reads one. What is damaged is left out and told. */
export function readCheckpoint(
  { name, data }: Checkpoint,
  { keeping, nowMs }: { readonly keeping: Pick<RingKeeping, "decode">; readonly nowMs: number },
): ReadCheckpoint | { readonly fault: string } {
  const { success, data: about } = aboutSchema.safeParse(jsonOf(data[ABOUT]));
  if (!success) return { fault: `${name} has no readable key ${ABOUT} of version ${VERSION}` };
  const workloads = new Map<string, WorkloadHistory>();
  const faults: string[] = [];
  for (const [uid, text] of Object.entries(data)) {
    if (uid === ABOUT) continue;
    const read = readWorkload(text, { uid, keeping, nowMs });
    if ("fault" in read) faults.push(`${name}, key ${quotedText(uid)}: ${read.fault}`);
    else workloads.set(uid, read);
  }
  const { namespace, newestMs } = about;
  return { namespace, newestMs: Math.min(newestMs, nowMs), workloads, faults };
}

function readWorkload(
  text: string,
  { uid, keeping, nowMs }: {
    readonly uid: string;
    readonly keeping: Pick<RingKeeping, "decode">;
    readonly nowMs: number;
  },
): WorkloadHistory | { readonly fault: string } {
  const { success, data } = workloadSchema.safeParse(jsonOf(text));
  if (!success) return { fault: "it is no workload's history" };
  const { kind, name, windowMs } = data;
  const containers = new Map<string, ContainerRings>();
  try {
    for (const [container, rings] of Object.entries(data.containers)) {
      containers.set(container, keeping.decode(rings, { nowMs, windowMs }));
    }
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) };
  }
  return { workload: { kind, name, uid }, containers };
}

function jsonOf(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? "");
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
