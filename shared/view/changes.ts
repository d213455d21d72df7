/**
 * Changes of the requests of all pods, as numbers and as text, and the savings of recommendations.
 *
 * @module
 */
import type { ContainerAmounts } from "../rightsizing/workload_record.ts";
import type { AdvisedContainer, AdvisedWorkload, Change, Changes } from "./advice_view.ts";
import { coresText, cpuText, memoryText, UNKNOWN } from "./figures.ts";

/** An amount of a container. */
export type AmountName = keyof ContainerAmounts;

/** `250m`, `84.5Mi`. */
export function amountText(name: AmountName, amount: number): string {
  return name === "cpu" || name === "cpuLimit" ? cpuText(amount) : memoryText(amount);
}

/** Stands for an amount that is not set. */
const UNSET = "none";

/** Requests and limits of running pods; without pods, those of the template. */
export function presentAmounts({ pods, template }: AdvisedContainer): readonly ContainerAmounts[] {
  if (pods.length > 0) return pods;
  return template === undefined ? [] : [template];
}

/** `200m..250m` where pods differ, `none` where nothing is set. */
export function presentText(container: AdvisedContainer, name: AmountName): string {
  const present = presentAmounts(container);
  if (present.length === 0) return UNKNOWN;
  const set = present.flatMap((one) => one[name] ?? []);
  const bare = set.length < present.length ? [UNSET] : [];
  const ends = set.length === 0 ? [] : [Math.min(...set), Math.max(...set)];
  const texts = [...bare, ...ends.map((amount) => amountText(name, amount))];
  return [...new Set(texts)].join("..");
}

/** The changes of the requests of all pods, in a sentence. */
export function changesText({ cpu, memory }: Changes): string {
  return `Requests of all pods: CPU shrinks by ${coresText(cpu.shrinks)} and grows by ` +
    `${coresText(cpu.grows)} cores, memory shrinks by ${memoryText(memory.shrinks)} and grows by ` +
    memoryText(memory.grows);
}

const NO_CHANGES: Changes = {
  cpu: { grows: 0, shrinks: 0 },
  memory: { grows: 0, shrinks: 0 },
};

/** The recommended and the present values. */
export type Compared = Pick<AdvisedContainer, "recommended" | "pods" | "template">;

/** The numbers of present and of desired pods. */
export interface PodCounts {
  /** Undefined where pods can't be read. */
  readonly pods: number | undefined;
  /** Desired pods; undefined where the workload can't be read. */
  readonly replicas: number | undefined;
}

/**
 * The sum over pods of the recommended less the present request; 200 m instead of 500 m in three pods
 * shrinks by 900 m. A request that is not set counts as 0. Where pods can't be read, replicas of the
 * template count. Undefined without a recommendation, and where neither pods nor template are known.
 */
export function changesOf(
  { recommended, pods, template }: Compared,
  counts: PodCounts,
): Changes | undefined {
  if (recommended === undefined) return undefined;
  const { replicas } = counts;
  if (counts.pods !== undefined) {
    return sumOfChanges(pods.map((one) => difference(one, { recommended, count: one.count })));
  }
  if (template === undefined || replicas === undefined) return undefined;
  return difference(template, { recommended, count: replicas });
}

/** The sum of changes. */
export function sumOfChanges(list: readonly (Changes | undefined)[]): Changes {
  return list.reduce<Changes>(
    (sum, one = NO_CHANGES) => ({
      cpu: sumOfTwo(sum.cpu, one.cpu),
      memory: sumOfTwo(sum.memory, one.memory),
    }),
    NO_CHANGES,
  );
}

function difference(
  present: ContainerAmounts,
  { recommended, count }: {
    readonly recommended: ContainerAmounts;
    readonly count: number;
  },
): Changes {
  const changeOf = (resource: "cpu" | "memory"): Change => {
    const to = recommended[resource];
    const growth = to === undefined ? 0 : countable((to - (present[resource] ?? 0)) * count);
    return { grows: Math.max(0, growth), shrinks: Math.max(0, -growth) };
  };
  return { cpu: changeOf("cpu"), memory: changeOf("memory") };
}

function sumOfTwo(a: Change, b: Change): Change {
  return { grows: countable(a.grows + b.grows), shrinks: countable(a.shrinks + b.shrinks) };
}

/** At most 2^53: users may write larger quantities. */
function countable(amount: number): number {
  const max = Number.MAX_SAFE_INTEGER;
  return Math.max(-max, Math.min(max, amount));
}

/** Requests of all pods of a workload or of several, millicores and bytes. */
export interface ResourceAmounts {
  readonly cpu: number;
  readonly memory: number;
}

/** The saving of values that were applied in place. */
export interface InPlaceSaving {
  /** The pods' requests by the manifest. */
  readonly before: ResourceAmounts;
  /** `before` less the pods' present requests; negative where they request more. */
  readonly saved: ResourceAmounts;
}

/**
 * The manifest's requests less those of the pods, by values that were applied in place. Undefined
 * without such values: the requests before a template was rewritten are not recorded. Pods with unknown
 * requests count as having the manifest's.
 */
export function savedInPlace(
  { containers, exists, lastApplied, lastApplyMethod }: AdvisedWorkload,
): InPlaceSaving | undefined {
  if (exists === false || lastApplied === undefined || lastApplyMethod !== "InPlace") {
    return undefined;
  }
  const before = { cpu: 0, memory: 0 };
  const saved = { cpu: 0, memory: 0 };
  for (const { template = {}, inForce = {}, pods } of containers) {
    for (const resource of ["cpu", "memory"] as const) {
      const requested = template[resource];
      // A request without a value in force was changed by another client.
      if (requested === undefined || inForce[resource] === undefined) continue;
      for (const { count, [resource]: present = requested } of pods) {
        before[resource] += requested * count;
        saved[resource] += (requested - present) * count;
      }
    }
  }
  return { before, saved };
}

/**
 * The pods' requests less those of the recommendation. Undefined where it is not to be applied: of a
 * workload that is skipped, or failed.
 */
export function savedIfApplied(
  { status, changes: { cpu, memory } }: Pick<AdvisedWorkload, "status" | "changes">,
): ResourceAmounts | undefined {
  if (status === "Skipped" || status === "Error") return undefined;
  return { cpu: cpu.shrinks - cpu.grows, memory: memory.shrinks - memory.grows };
}

/** The sum of savings. */
export function sumOfSaved(list: readonly (ResourceAmounts | undefined)[]): ResourceAmounts {
  return list.reduce<ResourceAmounts>(
    (sum, one) => ({ cpu: sum.cpu + (one?.cpu ?? 0), memory: sum.memory + (one?.memory ?? 0) }),
    { cpu: 0, memory: 0 },
  );
}
