/**
 * What is remembered of the containers of a workload's template: what their author wrote, and when he
 * changed it; what was written over it, and whether somebody has taken that back.
 *
 * @module
 */
import type { PodContainer } from "../api/pod.ts";
import type { ResourceName } from "./distribution.ts";
import {
  pairOf,
  RESOURCE_NAMES,
  type ResourcePair,
  resourcesOf,
  type WantedResources,
} from "./guards/wanted_resources.ts";
import { amountsOfResources, resourcesOfAmounts, valuesInTemplate } from "./values_in_force.ts";
import type {
  ContainerAmounts,
  TemplateMemory,
  WorkloadRecord,
  WrittenOver,
} from "./workload_record.ts";

/** What has stood for so long was no tool's to heal, ms: a day. */
const STOOD_MS = 86_400_000;

/**
 * What the record remembers, for the workload that it is of: one that was made anew under its name has
 * another author. Records of older versions have what stood in the template when values were adopted.
 */
export function rememberedOf(
  record:
    | Pick<WorkloadRecord, "uid" | "template" | "inForce" | "method" | "appliedAtMs">
    | undefined,
  uid: string,
): readonly TemplateMemory[] {
  if (record === undefined || (record.uid !== undefined && record.uid !== uid)) return [];
  const { template, inForce, method, appliedAtMs } = record;
  if (template !== undefined) return template;
  const written = valuesInTemplate(method === "Recreate" ? inForce : []);
  return inForce.flatMap(({ container, adoptedOn }): TemplateMemory[] => {
    if (adoptedOn === undefined) return [];
    const amounts = amountsOfResources(written.get(container) ?? {});
    const over = { amounts, atMs: appliedAtMs ?? 0, times: 0 };
    return [{
      container,
      author: adoptedOn,
      editedAtMs: {},
      ...(Object.keys(amounts).length === 0 ? {} : { written: over }),
    }];
  });
}

/**
 * The memory after a look at the template. What is neither the author's nor what was written over it is
 * an edit: from then on that is his, and nothing of that resource was written over it. What is his again
 * without an edit was taken back. No time is later than now, should the clock have been set back.
 */
export function lookAtTemplate(
  remembered: readonly TemplateMemory[],
  { containers, nowMs }: { readonly containers: readonly PodContainer[]; readonly nowMs: number },
): readonly TemplateMemory[] {
  return containers.filter(({ sidecar }) => !sidecar).map((present): TemplateMemory => {
    const known = remembered.find(({ container }) => container === present.name);
    const now = amountsOfResources(present);
    if (known === undefined) return { container: present.name, author: now, editedAtMs: {} };
    const over = { ...known.author, ...known.written?.amounts };
    const edited = RESOURCE_NAMES.filter((resource) =>
      !isSame(resource, { one: now, other: known.author }) &&
      !isSame(resource, { one: now, other: over })
    );
    const times = RESOURCE_NAMES.flatMap((resource) => {
      const atMs = edited.includes(resource) ? nowMs : known.editedAtMs[resource];
      return atMs === undefined ? [] : [[resource, Math.min(atMs, nowMs)] as const];
    });
    const kept = RESOURCE_NAMES.filter((resource) => !edited.includes(resource));
    const written = known.written && writtenNow(
      { ...known.written, amounts: only(kept, known.written.amounts) },
      { now, nowMs },
    );
    return {
      container: present.name,
      author: { ...only(edited, now), ...only(kept, known.author) },
      editedAtMs: Object.fromEntries(times),
      ...(written === undefined ? {} : { written }),
    };
  });
}

/** The memory after the values were written into the template. */
export function afterRecreate(
  remembered: readonly TemplateMemory[],
  { wanted, nowMs }: { readonly wanted: WantedResources; readonly nowMs: number },
): readonly TemplateMemory[] {
  return remembered.map((one) => {
    const values = wanted.get(one.container);
    if (values === undefined) return one;
    const amounts = { ...one.written?.amounts, ...amountsOfResources(resourcesOf(values)) };
    return { ...one, written: { amounts, atMs: nowMs, times: one.written?.times ?? 0 } };
  });
}

/** The memory after pods were resized: what stands in the template does not matter any more. */
export function afterInPlace(
  remembered: readonly TemplateMemory[],
  containers: readonly PodContainer[],
): readonly TemplateMemory[] {
  return remembered.map(({ written, ...rest }) => {
    const present = containers.find(({ name }) => name === rest.container);
    if (written === undefined || present === undefined) return rest;
    return { ...rest, author: amountsOfResources(present) };
  });
}

/** Undefined where nothing is left of it. */
function writtenNow(
  { takenBackAtMs, ...written }: WrittenOver,
  { now, nowMs }: { readonly now: ContainerAmounts; readonly nowMs: number },
): WrittenOver | undefined {
  if (Object.keys(written.amounts).length === 0) return undefined;
  const over = { ...now, ...written.amounts };
  if (RESOURCE_NAMES.every((resource) => isSame(resource, { one: now, other: over }))) {
    return written;
  }
  if (takenBackAtMs !== undefined) {
    return { ...written, takenBackAtMs: Math.min(takenBackAtMs, nowMs) };
  }
  const times = nowMs - written.atMs >= STOOD_MS ? 1 : written.times + 1;
  return { ...written, takenBackAtMs: nowMs, times };
}

function isSame(
  resource: ResourceName,
  { one, other }: { readonly one: ContainerAmounts; readonly other: ContainerAmounts },
): boolean {
  const pairs = [one, other].map((amounts): ResourcePair =>
    pairOf(resourcesOfAmounts(amounts), resource)
  );
  return pairs[0]?.request === pairs[1]?.request && pairs[0]?.limit === pairs[1]?.limit;
}

/** The amounts of these resources. */
function only(resources: readonly ResourceName[], amounts: ContainerAmounts): ContainerAmounts {
  const all = resourcesOfAmounts(amounts);
  const pairs = resources.map((resource) => [resource, pairOf(all, resource)] as const);
  return amountsOfResources(resourcesOf(Object.fromEntries(pairs)));
}
