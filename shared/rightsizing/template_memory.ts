/**
 * What is remembered of the containers of a workload's template, by resource: what their author wrote, and when it
 * changed; what was written over it, and whether that was reverted.
 *
 * @module
 */
import { NO_RESOURCES, type PodContainer, type ResourceName } from "../api/pod.ts";
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
import { amountsOfResources, resourcesOfAmounts } from "./values_in_force.ts";
import type {
  ContainerAmounts,
  TemplateMemory,
  ValuesInForce,
  WorkloadRecord,
  WrittenOver,
} from "./workload_record.ts";

/** What has stood for so long was no tool's to heal, ms: a day. */
const STOOD_MS = 86_400_000;

/** What of a record memory is made of. */
export type RememberedRecord = Pick<
  WorkloadRecord,
  "uid" | "template" | "recommendedAtMs"
>;

/** A template as it is now, and what there is of the workload's pods. */
export interface ObservedTemplate {
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

/** The memory after an observation. */
export interface TemplateObservation {
  readonly remembered: readonly TemplateMemory[];
  /**
   * Values that were written and are not on record, though others are: the answer was lost, or the process
   * ended before it wrote the record.
   */
  readonly late: readonly PairEntry[];
}

/**
 * The memory after an observation of the template. A request or limit that is neither the author's nor what was
 * written over it is an edit of that resource: from then on that is the author's, and of what was written over
 * it only what stands is remembered. What is the author's again without an edit was reverted. What the server has
 * on record as written by us is no edit, even where the record knows nothing of it.
 *
 * A workload that was made anew under its name begins with what was used under that name, so it has the
 * former one's edits, and other values than there were are an edit; but nothing was written over its own.
 */
export function observeTemplate(
  record: RememberedRecord | undefined,
  observed: ObservedTemplate,
): TemplateObservation {
  const before = record?.template ?? [];
  const isAnew = record?.uid !== undefined && record.uid !== observed.uid;
  const late: PairEntry[] = [];
  const own = observed.containers.filter(({ sidecar }) => !sidecar);
  const remembered = own.map((present): TemplateMemory => {
    const known = before.find(({ container }) => container === present.name);
    const ours = isAnew
      ? undefined
      : observed.written?.containers.find(({ name }) => name === present.name);
    const seen = byResource((resource) => {
      const now = pairOf(present, resource);
      const one = observePair(now, {
        author: known && pairOf(resourcesOfAmounts(known.author), resource),
        over: known?.written?.[resource],
        ours: pairOf(ours ?? NO_RESOURCES, resource),
        oursAtMs: Math.min(observed.written?.atMs ?? 0, observed.nowMs),
        nowMs: observed.nowMs,
      });
      if (one.isLate && known !== undefined) {
        late.push({ container: present.name, resource, pair: one.over?.pair ?? {} });
      }
      return isAnew ? { ...one, author: now, over: undefined } : one;
    });
    const times = byResource((resource) =>
      timesOf(resource, { known, isEdited: seen[resource]?.isEdited === true, record, observed })
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

/** The memory after the values were written into the template, which was that of the last observation. */
export function afterRecreate(
  remembered: readonly TemplateMemory[],
  { wanted, containers, atMs }: {
    readonly wanted: WantedResources;
    readonly containers: readonly PodContainer[];
    readonly atMs: number;
  },
): readonly TemplateMemory[] {
  return remembered.map((one) => {
    const present = containers.find(({ name }) => name === one.container) ?? NO_RESOURCES;
    const over = byResource((resource): WrittenOver | undefined => {
      const before = one.written?.[resource];
      const values = pairOf(wanted.get(one.container) ?? NO_RESOURCES, resource);
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

function observePair(
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
 * pods that are for certain, the last observation shows at which all was as before. Pods that were started
 * between that and the edit's being seen may be of either, so they do not count: they may stay for good.
 */
function timesOf(
  resource: ResourceName,
  { known, isEdited, record, observed: { nowMs, isOldThere } }: {
    readonly known: TemplateMemory | undefined;
    readonly isEdited: boolean;
    readonly record: RememberedRecord | undefined;
    readonly observed: ObservedTemplate;
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

/** What of a record says what was applied. */
export type AppliedRecord = Pick<WorkloadRecord, "inForce" | "appliedAtMs" | "method">;

/**
 * The record with what was written late: the answer never came, or the process ended before it had noted
 * it. It counts as applied when it is seen, so that a cooldown follows, and new values are decided on it.
 */
export function withLateWrites(
  record: AppliedRecord,
  { late, containers, nowMs }: {
    /** See `observeTemplate()`. */
    readonly late: readonly PairEntry[];
    /** The template's. */
    readonly containers: readonly PodContainer[];
    /** Ms since 1970. */
    readonly nowMs: number;
  },
): AppliedRecord {
  if (late.length === 0) return record;
  const names = new Set(late.map(({ container }) => container));
  const inForce = [
    ...record.inForce.filter(({ container }) => !names.has(container)),
    ...containers.filter(({ name }) => names.has(name)).map((present) => {
      const known = record.inForce.find(({ container }) => container === present.name);
      const own = late.filter(({ container }) => container === present.name);
      return valuesWith(own, { known, present });
    }),
  ];
  return { inForce, appliedAtMs: nowMs, method: "Recreate" };
}

/** A resource that was not written late stays on what it was adopted on. */
function valuesWith(
  late: readonly PairEntry[],
  { known, present }: {
    readonly known: ValuesInForce | undefined;
    readonly present: PodContainer;
  },
): ValuesInForce {
  const { container: _name, adoptedOn, ...before } = known ?? { container: present.name };
  const now = amountsOfResources(present);
  const merged = (old: ContainerAmounts, ofLate: (one: PairEntry) => PairEntry["pair"]) => {
    const wanted = byResource((resource) => {
      const found = late.find((one) => one.resource === resource);
      return found === undefined ? pairOf(resourcesOfAmounts(old), resource) : ofLate(found);
    });
    return amountsOfResources(resourcesOf(wanted));
  };
  return {
    container: present.name,
    ...merged(before, ({ pair }) => pair),
    adoptedOn: merged(adoptedOn ?? now, ({ resource }) => pairOf(present, resource)),
  };
}
