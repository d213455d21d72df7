/**
 * The memory of corrections as ConfigMaps, one for each namespace of which there is something to tell.
 *
 * Its only key, `seen`, holds a sealed text (`sealed_text.ts`) of version 1: JSON with the namespace and,
 * by `kind/name` of workloads, their kills as rows and their looks as `looks_text.ts` writes them.
 *
 * @module
 */
import { z } from "zod";
import { sealText, unsealText } from "../../../shared/rightsizing/sealed_text.ts";
import type { Checkpoint } from "../sampler/ports.ts";
import type { CorrectionMemory } from "./correction_memory.ts";
import { readLooks, writeLooks } from "./looks_text.ts";
import type { SeenKill } from "./oom_memory.ts";
import type { Look } from "./throttle_memory.ts";

/** What a checkpoint holds. */
export interface ReadCorrections {
  readonly namespace: string;
  /** By key. */
  readonly kills: ReadonlyMap<string, readonly SeenKill[]>;
  /** By key. */
  readonly looks: ReadonlyMap<string, readonly Look[]>;
}

/** The memory of a namespace, as it is kept. */
export interface WrittenCorrections {
  readonly checkpoint: Checkpoint;
  /** Workloads that did not fit and will begin anew after a restart. */
  readonly leftOut: number;
}

/** The ConfigMap's key. */
const SEEN = "seen";
const VERSION = 1;
const WHAT = "checkpoint of corrections";
/** Below the 2^20 bytes of a ConfigMap's values; what else stands in it is short. */
const MOST_BYTES = 1_000_000;
/** Of a workload, the latest: 15 kB. A pod that was killed again tells of its last kill alone. */
const MOST_KILLS = 200;

const name = z.string().min(1).max(253);
const workloadSchema = z.object({
  kills: z.array(
    z.tuple([
      z.string().min(1),
      name,
      z.number().min(0),
      z.number().min(0).finite(),
      z.literal("unlimited").optional(),
    ]),
  ),
  looks: z.object({ containers: z.array(name).readonly(), text: z.string() }).optional(),
});
const seenSchema = z.object({
  namespace: name,
  workloads: z.record(z.string(), workloadSchema),
});

/** Checkpoints by namespace. Their names begin with `prefix`. */
export function writeCorrections(
  { oom, throttle }: CorrectionMemory,
  { prefix, mostBytes = MOST_BYTES }: {
    readonly prefix: string;
    /** @default {1_000_000} */
    readonly mostBytes?: number;
  },
): ReadonlyMap<string, WrittenCorrections> {
  const [kills, looks] = [oom.contents(), throttle.contents()];
  const namespaces = new Map<string, [string, string][]>();
  for (const key of new Set([...kills.keys(), ...looks.keys()])) {
    const [kind = "", namespace = "", workload = ""] = key.split("/");
    const entries = namespaces.get(namespace) ?? [];
    namespaces.set(namespace, entries);
    const known = { kills: kills.get(key) ?? [], looks: looks.get(key) ?? [] };
    entries.push([`${kind}/${workload}`, workloadText(known)]);
  }
  return new Map(Array.from(namespaces, ([namespace, entries]) => {
    const { kept, leftOut } = fitting(entries, mostBytes);
    const workloads = kept.map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(",");
    const body = `{"namespace":${JSON.stringify(namespace)},"workloads":{${workloads}}}`;
    const data = { [SEEN]: sealText(body, VERSION) };
    return [namespace, { checkpoint: { name: `${prefix}${namespace}`, data }, leftOut }];
  }));
}

/** Reads one. Of another version, or damaged, it can't be read: the sentence says why. */
export function readCorrections(
  { data }: Checkpoint,
  { nowMs }: { readonly nowMs: number },
): ReadCorrections | { readonly fault: string } {
  try {
    const body = unsealText(data[SEEN] ?? "", { version: VERSION, what: WHAT });
    const { success, data: seen, error } = seenSchema.safeParse(JSON.parse(body));
    if (!success) return { fault: `Cannot read ${WHAT}: ${z.prettifyError(error)}` };
    const [kills, looks] = [new Map<string, SeenKill[]>(), new Map<string, Look[]>()];
    for (const [place, known] of Object.entries(seen.workloads)) {
      const key = place.replace("/", `/${seen.namespace}/`);
      kills.set(
        key,
        known.kills.map(([pod, container, atMs, hadBytes, unlimited]) => ({
          ...{ pod, container, atMs, hadBytes },
          ...(unlimited === undefined ? {} : { unlimited: true }),
        })),
      );
      if (known.looks === undefined) continue;
      // A clock that was ahead must not keep looks for longer than the others.
      looks.set(
        key,
        readLooks(known.looks).map((look) => ({ ...look, atMs: Math.min(look.atMs, nowMs) })),
      );
    }
    return { namespace: seen.namespace, kills, looks };
  } catch (error) {
    if (error instanceof SyntaxError) return { fault: error.message };
    throw error;
  }
}

function workloadText(
  { kills, looks }: { readonly kills: readonly SeenKill[]; readonly looks: readonly Look[] },
): string {
  const latest = kills.toSorted((a, b) => b.atMs - a.atMs).slice(0, MOST_KILLS);
  const written: z.input<typeof workloadSchema> = {
    kills: latest.map(({ pod, container, atMs, hadBytes, unlimited }) => [
      ...[pod, container, atMs, hadBytes] as const,
      ...(unlimited === undefined ? [] as const : ["unlimited"] as const),
    ]),
    ...(looks.length === 0 ? {} : { looks: writeLooks(looks) }),
  };
  return JSON.stringify(written);
}

/** As many as fit, the shortest first, since that leaves the fewest out; names are ASCII, as all else. */
function fitting(
  entries: readonly [string, string][],
  mostBytes: number,
): { readonly kept: readonly [string, string][]; readonly leftOut: number } {
  const size = ([key, text]: readonly [string, string]): number => key.length + text.length + 4;
  let bytes = 0;
  const kept = entries.toSorted((a, b) => size(a) - size(b)).filter((entry) => {
    bytes += size(entry);
    return bytes <= mostBytes;
  });
  return { kept, leftOut: entries.length - kept.length };
}
