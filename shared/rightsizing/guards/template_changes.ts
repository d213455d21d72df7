/**
 * Changes of a workload's template by other field managers, and the guards that wait a day after one.
 *
 * @module
 */
import { NO_RESOURCES, type PodContainer, withResources } from "../../api/pod.ts";
import type { FieldOwner, TemplateOwners } from "../../api/workload.ts";
import { defined } from "../../defined.ts";
import {
  byResource,
  formatAmount,
  pair,
  type PairEntry,
  RESOURCE_SIDES,
  type ResourcePair,
  wantedOf,
  type WantedResources,
} from "../../resize/inputs/resources.ts";
import { pairIn } from "../../resize/inputs/subject.ts";
import { RIGHTSIZING_MANAGER } from "../../resize/original_limits.ts";
import { withoutPairs } from "../../resize/run_checks.ts";
import {
  amountsOfResources,
  type ContainerAmounts,
  type ContainerTemplate,
  resourcesOfAmounts,
  type TemplateChange,
  timeText,
  type ValuesInForce,
  type WorkloadRecord,
} from "../workload_record.ts";
import { loweredTo } from "./memory_decrease.ts";
import { methodFor, presentSubjects } from "./method.ts";
import type { GuardVerdict, RightsizingSnapshot } from "./rightsizing_snapshot.ts";

/** How long the guards wait after a change by another field manager, ms: a day. */
const COOLDOWN_MS = 86_400_000;

/** A template as the server has it. */
export interface PresentTemplate {
  readonly containers: readonly PodContainer[];
  /** Absent: not known. */
  readonly owners?: TemplateOwners | undefined;
  /** Ms since 1970. */
  readonly nowMs: number;
}

/** A template compared with the record of the last reconcile. */
export interface ComparedTemplate {
  /** The containers that the record keeps from now on. */
  readonly template: readonly ContainerTemplate[];
  /** Values that rightsizing wrote and that the record lacks, after a lost response or a crash. */
  readonly unrecorded: WantedResources;
}

/**
 * Compares the template with the record. A request or limit that differs was changed by the field manager that
 * owns it now, at the time of its entry in `managedFields`; by an unknown one, now, where it has no owner, as
 * after its removal.
 */
export function compareTemplate(
  recorded: readonly ContainerTemplate[],
  { containers, owners = {}, nowMs }: PresentTemplate,
): ComparedTemplate {
  const unrecorded: PairEntry[] = [];
  const template = containers.filter(({ sidecar }) => !sidecar).map((present) => {
    const { name } = present;
    const known = recorded.find(({ container }) => container === name);
    const before = known === undefined ? present : resourcesOfAmounts(known);
    const changed = byResource((resource): TemplateChange | undefined => {
      const sides = RESOURCE_SIDES.map((side) => {
        const [was, value] = [before[side][resource], present[side][resource]];
        const owner = value === undefined ? undefined : owners[name]?.[`${side}.${resource}`];
        return {
          value,
          owner,
          differs: value !== was,
          isOwn: owner?.manager === RIGHTSIZING_MANAGER,
        };
      });
      if (sides.some(({ differs, isOwn }) => differs && isOwn)) {
        const [request, limit] = sides.map(({ value, isOwn }) => isOwn ? value : undefined);
        unrecorded.push({ container: name, resource, pair: pair(request, limit) });
      }
      const others = sides.filter(({ differs, isOwn }) => differs && !isOwn)
        .map(({ owner }) => changeBy(owner, nowMs));
      return latestOf(others) ?? recentChange(known?.[`${resource}Changed`], nowMs);
    });
    return defined({
      container: name,
      ...amountsOfResources(present),
      cpuChanged: changed.cpu,
      memoryChanged: changed.memory,
    });
  });
  return { template, unrecorded: wantedOf(unrecorded) };
}

/** The recorded template after rightsizing has written the values into it. */
export function templateWith(
  wanted: WantedResources,
  template: readonly ContainerTemplate[],
): readonly ContainerTemplate[] {
  return template.map((one) => {
    const values = withResources(
      resourcesOfAmounts(one),
      wanted.get(one.container) ?? NO_RESOURCES,
    );
    return { ...one, ...amountsOfResources(values) };
  });
}

/** The part of a record about the last application. */
export type AppliedRecord = Pick<WorkloadRecord, "inForce" | "appliedAtMs" | "method">;

/**
 * The record with unrecorded values: they count as applied now, so that the cooldown follows. A request or
 * limit beside them stays in force, and is valid as long as the template has the values of its adoption.
 */
export function withUnrecorded(
  record: AppliedRecord,
  unrecorded: WantedResources,
  { containers, nowMs }: Pick<PresentTemplate, "containers" | "nowMs">,
): AppliedRecord {
  if (unrecorded.size === 0) return record;
  const written = [...unrecorded].map(([container, values]): ValuesInForce => {
    const present = containers.find(({ name }) => name === container) ?? NO_RESOURCES;
    const before = record.inForce.find((one) => one.container === container);
    const withValues = (amounts: ContainerAmounts): ContainerAmounts =>
      amountsOfResources(withResources(resourcesOfAmounts(amounts), values));
    const adoptedOn = withValues(before?.adoptedOn ?? amountsOfResources(present));
    return { container, ...withValues(before ?? {}), adoptedOn };
  });
  const others = record.inForce.filter(({ container }) => !unrecorded.has(container));
  return { inForce: [...others, ...written], appliedAtMs: nowMs, method: "Recreate" };
}

/**
 * Leaves out values that need a rollout for a day after another field manager has changed the template of a
 * workload that rightsizing has applied values to: a tool that applies manifests would undo them, which costs
 * two rollouts each time. Values that can be resized in place pass.
 */
export function takenBack(snapshot: RightsizingSnapshot, wanted: WantedResources): GuardVerdict {
  const { nowMs, lastAppliedMs, recordedTemplate = [] } = snapshot;
  const changes = recordedTemplate.flatMap((
    { cpuChanged, memoryChanged },
  ) => [cpuChanged, memoryChanged])
    .filter((one) => one !== undefined).filter((one) => isRecent(one, nowMs));
  const latest = latestOf(changes);

  if (latest === undefined || lastAppliedMs === undefined) return undefined;
  if (methodFor(snapshot, wanted) !== "Recreate") return undefined;
  return withoutPairs(wanted, "TakenBack", {
    against: (entry) =>
      methodFor(snapshot, wantedOf([entry])) === "Recreate"
        ? `${changeText(latest)}; it is left alone until ${timeText(latest.atMs + COOLDOWN_MS)}`
        : undefined,
  });
}

/**
 * Leaves out decreases of a resource for a day after another field manager has changed it in the template:
 * the recommendation comes from the usage of the former version, and a release that needs more must not
 * have less. A limit where there was none is a decrease. Raises pass, request and limit each by itself.
 */
export function recentlyEdited(
  snapshot: RightsizingSnapshot,
  wanted: WantedResources,
): GuardVerdict {
  const { nowMs, recordedTemplate = [] } = snapshot;
  if (recordedTemplate.length === 0) return undefined;
  const subjects = presentSubjects(snapshot, methodFor(snapshot, wanted));
  return withoutPairs(wanted, "RecentlyEdited", {
    against(entry) {
      const { container, resource, pair: asked } = entry;
      const change = recordedTemplate.find((one) => one.container === container)?.[
        `${resource}Changed`
      ];
      if (change === undefined || !isRecent(change, nowMs)) return undefined;
      const present = subjects.flatMap((subject) => pairIn(subject, entry) ?? []);
      const isLowered = (side: ResourcePair): boolean =>
        present.some((one) => loweredTo(one, side) < Infinity);
      const { request, limit } = asked;
      const lowersRequest = isLowered(pair(request, undefined));
      const lowersLimit = isLowered(pair(undefined, limit));
      const to = lowersRequest ? request : limit;
      if (to === undefined || !(lowersRequest || lowersLimit)) return undefined;
      const what = lowersRequest ? resource : `${resource} limit`;
      const problem = `${container} ${what} to ${formatAmount(resource, to)}: ` +
        `${changeText(change, "it in ")}, and it is not lowered before ` +
        timeText(change.atMs + COOLDOWN_MS);
      const rest = pair(lowersRequest ? undefined : request, lowersLimit ? undefined : limit);
      return { problem, rest };
    },
  });
}

function changeBy(owner: FieldOwner | undefined, nowMs: number): TemplateChange {
  if (owner === undefined) return { atMs: nowMs };
  return { by: owner.manager, atMs: Math.min(owner.atMs, nowMs) };
}

function latestOf(changes: readonly TemplateChange[]): TemplateChange | undefined {
  return changes.toSorted((a, b) => b.atMs - a.atMs)[0];
}

/** The change, unless it is older than a day; one in the future, after a clock was set back, is dated now. */
function recentChange(
  change: TemplateChange | undefined,
  nowMs: number,
): TemplateChange | undefined {
  if (change === undefined || !isRecent(change, nowMs)) return undefined;
  return { ...change, atMs: Math.min(change.atMs, nowMs) };
}

function isRecent({ atMs }: TemplateChange, nowMs: number): boolean {
  return nowMs < atMs + COOLDOWN_MS;
}

/** `helm has changed it in the template at 2026-01-01T00:00:00.000Z`. */
function changeText({ by = "another client", atMs }: TemplateChange, what = ""): string {
  return `${by} has changed ${what}the template at ${timeText(atMs)}`;
}
