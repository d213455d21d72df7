/**
 * What is remembered of the containers of a workload's template, by resource: what their author wrote,
 * and when he changed it; what was written over it, and whether somebody has taken that back.
 *
 * @module
 */
import type { PodContainer, ResourceName } from "../api/pod.ts";
import type { WrittenValues } from "../api/workload.ts";
import {
  byResource,
  pair,
  PAIR_SIDES,
  type PairEntry,
  pairOf,
  type PairSide,
  type ResourcePair,
  resourcesOf,
  type WantedResources,
} from "../resize/inputs/resources.ts";
import { amountsOfResources, resourcesOfAmounts, valuesInTemplate } from "./values_in_force.ts";
import type { TemplateMemory, WorkloadRecord, WrittenOver } from "./workload_record.ts";

/** What has stood for so long was no tool's to heal, ms: a day. */
const STOOD_MS = 86_400_000;

/** What of a record memory is made of. */
export type RememberedRecord = Pick<
  WorkloadRecord,
  "uid" | "template" | "inForce" | "method" | "appliedAtMs" | "recommendedAtMs"
>;

/** A template as it is now, and what there is of the workload's pods. */
export interface TemplateLook {
  /** UID of the workload. */
  readonly uid: string;
  readonly containers: readonly PodContainer[];
  /** As the server has it. */
  readonly written?: WrittenValues | undefined;
  /** Ms since 1970. */
  readonly nowMs: number;
  /** Whether a pod may be of another template, which that must be that was started before this time. */
  readonly isOldThere: (startedBeforeMs: number) => boolean;
}

/** What comes of a look. */
export interface SeenTemplate {
  readonly remembered: readonly TemplateMemory[];
  /**
   * Values that were written and were not on record, though something was: nobody has heard the answer,
   * or lived to note it.
   */
  readonly late: readonly PairEntry[];
}

/** What the record remembers. Those of older versions have what stood in the template at an adoption. */
export function rememberedOf(record: RememberedRecord | undefined): readonly TemplateMemory[] {
  if (record === undefined) return [];
  const { template, inForce, method, appliedAtMs = 0 } = record;
  if (template !== undefined) return template;
  const written = valuesInTemplate(method === "Recreate" ? inForce : []);
  return inForce.flatMap(({ container, adoptedOn }): TemplateMemory[] => {
    if (adoptedOn === undefined) return [];
    const over = byResource((resource) => {
      const found = pairOf(written.get(container) ?? {}, resource);
      return isEmpty(found) ? undefined : { pair: found, atMs: appliedAtMs, times: 0 };
    });
    return [{ container, author: adoptedOn, editedAtMs: {}, ...withOver(over) }];
  });
}

/**
 * The memory after a look at the template. A request or limit that is neither the author's nor what was
 * written over it is an edit of that resource: from then on that is his, and of what was written over it
 * only what stands is remembered. What is his again without an edit was taken back. What the server has
 * on record as written by us is no edit, even where the record knows nothing of it.
 *
 * A workload that was made anew under its name begins with what was used under that name, so it has the
 * former one's edits, and other values than there were are an edit; but nothing was written over its own.
 */
export function lookAtTemplate(
  record: RememberedRecord | undefined,
  look: TemplateLook,
): SeenTemplate {
  const before = rememberedOf(record);
  const isAnew = record?.uid !== undefined && record.uid !== look.uid;
  const late: PairEntry[] = [];
  const own = look.containers.filter(({ sidecar }) => !sidecar);
  const remembered = own.map((present): TemplateMemory => {
    const known = before.find(({ container }) => container === present.name);
    const ours = isAnew
      ? undefined
      : look.written?.containers.find(({ name }) => name === present.name);
    const seen = byResource((resource) => {
      const now = pairOf(present, resource);
      const one = lookAtPair(now, {
        author: known && pairOf(resourcesOfAmounts(known.author), resource),
        over: known?.written?.[resource],
        ours: pairOf(ours ?? {}, resource),
        oursAtMs: Math.min(look.written?.atMs ?? 0, look.nowMs),
        nowMs: look.nowMs,
      });
      if (one.isLate && known !== undefined) {
        late.push({ container: present.name, resource, pair: one.over?.pair ?? {} });
      }
      return isAnew ? { ...one, author: now, over: undefined } : one;
    });
    const times = byResource((resource) =>
      timesOf(resource, { known, isEdited: seen[resource]?.isEdited === true, record, look })
    );
    return {
      container: present.name,
      author: amountsOfResources(resourcesOf(byResource((resource) => seen[resource]?.author))),
      editedAtMs: byResource((resource) => times[resource]?.editedAtMs),
      ...withTimes(byResource((resource) => times[resource]?.oldBeforeMs)),
      ...withOver(byResource((resource) => seen[resource]?.over)),
    };
  });
  return { remembered, late };
}

/** The memory after the values were written into the template, which was that of the look before. */
export function afterRecreate(
  remembered: readonly TemplateMemory[],
  { wanted, containers, atMs }: {
    readonly wanted: WantedResources;
    readonly containers: readonly PodContainer[];
    readonly atMs: number;
  },
): readonly TemplateMemory[] {
  return remembered.map((one) => {
    const present = containers.find(({ name }) => name === one.container) ?? {};
    const over = byResource((resource): WrittenOver | undefined => {
      const before = one.written?.[resource];
      const values = pairOf(wanted.get(one.container) ?? {}, resource);
      if (values.request === undefined && values.limit === undefined) return before;
      const stands = standing(before?.pair ?? {}, pairOf(present, resource));
      return { pair: { ...stands, ...values }, atMs, times: before?.times ?? 0 };
    });
    const { written: _before, ...rest } = one;
    return { ...rest, ...withOver(over) };
  });
}

interface KnownPair {
  /** Undefined where nothing is known of the container. */
  readonly author: ResourcePair | undefined;
  readonly over: WrittenOver | undefined;
  /** What the server has on record as written by us. */
  readonly ours: ResourcePair;
  readonly oursAtMs: number;
  readonly nowMs: number;
}

interface SeenPair {
  readonly author: ResourcePair;
  readonly over: WrittenOver | undefined;
  readonly isEdited: boolean;
  readonly isLate: boolean;
}

function lookAtPair(
  now: ResourcePair,
  { author, over, ours, oursAtMs, nowMs }: KnownPair,
): SeenPair {
  const stands = standing(over?.pair ?? {}, now);
  const late = pairFrom((side) => {
    const isKnown = author !== undefined && now[side] === author[side] || side in stands;
    return isKnown || now[side] !== ours[side] ? undefined : now[side];
  });
  const isOurs = (side: PairSide): boolean => side in stands || side in late;
  const edited = PAIR_SIDES.filter((side) => !isOurs(side) && now[side] !== (author ?? now)[side]);
  const isEdited = edited.length > 0;
  const isLate = !isEmpty(late);
  const own = pairFrom((side) => {
    if (author === undefined) return isOurs(side) ? undefined : now[side];
    return edited.includes(side) ? now[side] : author[side];
  });
  const standsNow = { ...stands, ...late };
  if (isLate) {
    return {
      author: own,
      over: { pair: standsNow, atMs: oursAtMs, times: over?.times ?? 0 },
      isEdited,
      isLate,
    };
  }
  const isLeft = over !== undefined && !(isEdited && isEmpty(stands));
  const left = isLeft ? { ...over, pair: isEdited ? stands : over.pair } : undefined;
  return { author: own, over: left && overNow(left, { now, nowMs }), isEdited, isLate };
}

/** No time is later than now, should the clock have been set back. */
function overNow(
  { takenBackAtMs, ...over }: WrittenOver,
  { now, nowMs }: { readonly now: ResourcePair; readonly nowMs: number },
): WrittenOver {
  if (PAIR_SIDES.every((side) => over.pair[side] === undefined || over.pair[side] === now[side])) {
    return over;
  }
  if (takenBackAtMs !== undefined) {
    return { ...over, takenBackAtMs: Math.min(takenBackAtMs, nowMs) };
  }
  const times = nowMs - over.atMs >= STOOD_MS ? 1 : over.times + 1;
  return { ...over, takenBackAtMs: nowMs, times };
}

interface EditTimes {
  readonly editedAtMs: number | undefined;
  readonly oldBeforeMs?: number;
}

/**
 * While pods from before an edit are there, the time of it goes along: usage is theirs until then. Which
 * pods that are for certain, the last look tells at which all was as before. Pods that were started
 * between that and the edit's being seen may be of either, so they do not count: they may stay for good.
 */
function timesOf(
  resource: ResourceName,
  { known, isEdited, record, look: { nowMs, isOldThere } }: {
    readonly known: TemplateMemory | undefined;
    readonly isEdited: boolean;
    readonly record: RememberedRecord | undefined;
    readonly look: TemplateLook;
  },
): EditTimes {
  if (isEdited) return { editedAtMs: nowMs, oldBeforeMs: record?.recommendedAtMs ?? 0 };
  const [atMs, oldBeforeMs] = [known?.editedAtMs[resource], known?.oldBeforeMs?.[resource]];
  if (atMs === undefined) return { editedAtMs: undefined };
  if (oldBeforeMs !== undefined && isOldThere(oldBeforeMs)) {
    return { editedAtMs: nowMs, oldBeforeMs };
  }
  return { editedAtMs: Math.min(atMs, nowMs) };
}

/** Of what was written, what is there. */
function standing(written: ResourcePair, now: ResourcePair): ResourcePair {
  return pairFrom((side) => written[side] === now[side] ? now[side] : undefined);
}

function pairFrom(of: (side: PairSide) => number | undefined): ResourcePair {
  return pair(of("request"), of("limit"));
}

function isEmpty(one: ResourcePair): boolean {
  return PAIR_SIDES.every((side) => one[side] === undefined);
}

function withOver(
  written: NonNullable<TemplateMemory["written"]>,
): Pick<TemplateMemory, "written"> {
  return Object.keys(written).length === 0 ? {} : { written };
}

function withTimes(
  oldBeforeMs: NonNullable<TemplateMemory["oldBeforeMs"]>,
): Pick<TemplateMemory, "oldBeforeMs"> {
  return Object.keys(oldBeforeMs).length === 0 ? {} : { oldBeforeMs };
}
