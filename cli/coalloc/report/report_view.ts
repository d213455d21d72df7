/**
 * The content of `report`, which its JSON has, and its pages show. Pure.
 *
 * @module
 */
import type { PodAllocation } from "../../../shared/api/pod_allocation.ts";
import { defined } from "../../../shared/defined.ts";
import { originalValues } from "../../../shared/resize/original_limits.ts";
import { MONTH_HOURS, pricePerHour, type Prices } from "../../../shared/rightsizing/prices.ts";
import type { AdvisedWorkload } from "../../../shared/view/advice_view.ts";
import {
  type ResourceAmounts,
  savedIfApplied,
  savedInPlace,
  sumOfSaved,
} from "../../../shared/view/changes.ts";
import type { PodView } from "../../../shared/view/node_view.ts";

/** The unit of a figure. */
export type FigureUnit =
  | "cores"
  | "core-hours"
  | "GiB"
  | "hours"
  | "seconds"
  | "count"
  | "money";

/** A figure, and where it comes from. */
export interface ReportFigure {
  /** For programs. */
  readonly key: string;
  readonly title: string;
  readonly value: number;
  /** In the period to compare with; for requests, those of the manifests. Absent: not known. */
  readonly before?: number;
  readonly unit: FigureUnit;
  readonly source:
    | "PodAllocations"
    | "agents"
    | "RecommendationReports"
    | "Prometheus"
    | "cAdvisor";
  /** Omissions of the figure, in a sentence. */
  readonly note?: string;
}

/** A figure that can't be given. */
export interface MissingFigure {
  /** The key of the figure; `requestsSaved` and `money` stand for several figures. */
  readonly key: string;
  readonly figure: string;
  /** A sentence, with what to do. */
  readonly why: string;
}

/** The saving of rightsizing for one workload; negative where its requests were raised. */
export interface WorkloadSaving {
  readonly namespace: string;
  readonly kind: string;
  readonly name: string;
  readonly cores: number;
  readonly gib: number;
  /** Requests of its pods as the manifest has them, of containers and resources with values. */
  readonly before: { readonly cores: number; readonly gib: number };
  /** Hours of the period since values were last applied. */
  readonly hours: number;
  readonly money?: number;
}

/** The whole report. */
export interface ReportView {
  /** ISO 8601. */
  readonly from: string;
  readonly to: string;
  /** End of the period to compare with, which is as long. */
  readonly comparedTo: string;
  /** `the cluster`, or a namespace. */
  readonly place: string;
  readonly currency: string;
  readonly figures: readonly ReportFigure[];
  readonly missing: readonly MissingFigure[];
  /** The largest savings first. */
  readonly workloads: readonly WorkloadSaving[];
}

/** The figures of Prometheus, and reasons for missing ones. */
export interface HistoryFigures {
  readonly figures: readonly ReportFigure[];
  readonly missing: readonly MissingFigure[];
}

/** The input of the report. */
export interface ReportInput extends HistoryFigures {
  readonly place: string;
  readonly nowMs: number;
  readonly sinceMs: number;
  /** End of the period to compare with. */
  readonly beforeMs: number;
  readonly prices: Prices | undefined;
  readonly allocations: readonly PodAllocation[];
  /** Pods in the market, by the agents. */
  readonly pods: readonly PodView[];
  /** Agents that can't be read, in sentences. */
  readonly agentProblems: readonly string[];
  readonly advised: readonly AdvisedWorkload[];
  /** Why savings are not known in full, in sentences. */
  readonly problems: readonly string[];
}

const GIB = 2 ** 30;

/** Builds the report. */
export function reportView(input: ReportInput): ReportView {
  const { nowMs, sinceMs, place, prices, allocations, advised } = input;
  const workloads = advised.flatMap((one) => savingOf(one, input))
    .sort((a, b) => (b.money ?? b.cores) - (a.money ?? a.cores));
  const open = sumOfSaved(advised.map(savedIfApplied));
  return {
    from: new Date(nowMs - sinceMs).toISOString(),
    to: new Date(nowMs).toISOString(),
    comparedTo: new Date(input.beforeMs).toISOString(),
    place,
    currency: prices?.currency ?? "",
    figures: [
      ...marketFigures(allocations, nowMs - sinceMs),
      ...presentFigures(input.pods),
      ...input.figures,
      ...savingFigures(workloads, { advised, open }),
      ...moneyFigures(workloads, { advised, open, prices }),
    ],
    missing: [
      ...input.agentProblems.map((why) => ({ ...PRESENT, why })),
      ...input.missing,
      ...missingSavings(input),
    ],
    workloads,
  };
}

/** Figures of containers with a known limit and a known original limit. */
function marketFigures(
  allocations: readonly PodAllocation[],
  fromMs: number,
): readonly ReportFigure[] {
  const differences = allocations.flatMap(({ status }) => {
    const originals = originalValues(status?.originalLimits);
    const applied = status?.containers?.map(({ name, cpuLimit: cpu }) => ({ name, cpu }));
    return [...originalValues(applied)].flatMap(([name, limit]) => {
      const original = originals.get(name);
      return original === undefined ? [] : [limit - original];
    });
  });
  const cores = (list: readonly number[]): number => list.reduce((sum, one) => sum + one, 0) / 1000;
  const changed = allocations.filter(({ status }) =>
    Date.parse(status?.lastAppliedTime ?? "") >= fromMs
  );
  const source = "PodAllocations";
  return [
    {
      key: "limitsAboveOriginal",
      title: "CPU limits above the original ones, now",
      value: cores(differences.filter((one) => one > 0)),
      unit: "cores",
      source,
      note: "room to burst, not CPU in use",
    },
    {
      key: "limitsBelowOriginal",
      title: "CPU limits below the original ones, now",
      value: -cores(differences.filter((one) => one < 0)),
      unit: "cores",
      source,
    },
    {
      key: "podsInMarket",
      title: "Pods in the market, now",
      value: allocations.length,
      unit: "count",
      source,
    },
    {
      key: "podsChanged",
      title: "Pods with a CPU limit that was changed",
      value: changed.length,
      unit: "count",
      source,
      note: "of the pods that still exist",
    },
  ];
}

/** Stands for both figures that come from agents. */
const PRESENT = { key: "presentUsage", figure: "Usage and throttled time, now" } as const;

function presentFigures(pods: readonly PodView[]): readonly ReportFigure[] {
  if (pods.length === 0) return [];
  const sum = (value: (pod: PodView) => number): number =>
    pods.reduce((total, pod) => total + value(pod), 0) / 1000;
  return [
    {
      key: "usageBeyondOriginalNow",
      title: "CPU in use beyond original limits, now",
      value: sum(({ usage = 0, originalLimit }) => Math.max(0, usage - originalLimit)),
      unit: "cores",
      source: "agents",
    },
    {
      key: "throttledNow",
      title: "Throttled time in each second, now",
      value: sum(({ throttledMsPerSecond = 0 }) => throttledMsPerSecond),
      unit: "seconds",
      source: "agents",
      note: "summed over threads",
    },
  ];
}

/** The saving of values that were applied in place. */
function savingOf(
  workload: AdvisedWorkload,
  { nowMs, sinceMs, prices }: Pick<ReportInput, "nowMs" | "sinceMs" | "prices">,
): readonly WorkloadSaving[] {
  const { namespace, kind, name, lastApplied = "" } = workload;
  const found = savedInPlace(workload);
  if (found === undefined) return [];
  const { before, saved } = found;
  const hours = Math.min(sinceMs, Math.max(0, nowMs - Date.parse(lastApplied))) / 3_600_000;
  const money = prices && pricePerHour(saved, prices) * hours;
  const amounts = { ...amountsOf(saved), before: amountsOf(before), hours };
  return [defined({ namespace, kind, name, ...amounts, money })];
}

function amountsOf({ cpu, memory }: ResourceAmounts): WorkloadSaving["before"] {
  return { cores: cpu / 1000, gib: memory / GIB };
}

/** The workloads, and the requests that pending recommendations would save. */
interface OpenSaving extends Pick<ReportInput, "advised"> {
  readonly open: ResourceAmounts;
}

function savingFigures(
  workloads: readonly WorkloadSaving[],
  { advised, open }: OpenSaving,
): readonly ReportFigure[] {
  if (advised.length === 0) return [];
  const resources = [
    { key: "cores", prefix: "cores", name: "CPU", unit: "cores", toSave: open.cpu / 1000 },
    { key: "gib", prefix: "memory", name: "Memory", unit: "GiB", toSave: open.memory / GIB },
  ] as const;
  return resources.flatMap(({ key, prefix, name, unit, toSave }) => {
    const common = { unit, source: "RecommendationReports" } as const;
    const note = "raises subtracted";
    const openNote = `${note}; workloads that are skipped or failed are left out`;
    const total = (value: (one: WorkloadSaving) => number): number =>
      workloads.reduce((sum, one) => sum + value(one), 0);
    const before = total((one) => one.before[key]);
    const saved = total((one) => one[key]);
    return [
      ...(podsAreKnown(advised)
        ? [
          {
            key: `${prefix}Requested`,
            title: `${name} requests of workloads with values applied in place, now`,
            value: before - saved,
            before,
            ...common,
            note: "the column Before has what the manifests request",
          },
          {
            key: `${prefix}Saved`,
            title: `${name} requests saved by rightsizing`,
            value: saved,
            ...common,
            note,
          },
        ]
        : []),
      {
        key: `${prefix}ToSave`,
        title: `${name} requests that recommendations would save further`,
        value: toSave,
        ...common,
        note: openNote,
      },
    ];
  });
}

/** Whether pods could be read; otherwise savings are unknown, and the problems say why. */
function podsAreKnown(advised: readonly AdvisedWorkload[]): boolean {
  return advised.every(({ pods }) => pods !== undefined);
}

function moneyFigures(
  workloads: readonly WorkloadSaving[],
  { advised, open, prices }: OpenSaving & Pick<ReportInput, "prices">,
): readonly ReportFigure[] {
  if (prices === undefined || advised.length === 0) return [];
  const source = "RecommendationReports";
  return [
    ...(podsAreKnown(advised)
      ? [{
        key: "moneySaved",
        title: "Money saved",
        value: workloads.reduce((sum, { money = 0 }) => sum + money, 0),
        unit: "money" as const,
        source: source as ReportFigure["source"],
        note:
          "since values were last applied, at the given prices, as if the pods of now had run all that " +
          "time, and if the nodes' bill follows requests",
      }]
      : []),
    {
      key: "moneyToSave",
      title: "Money that recommendations would save in a month",
      value: pricePerHour(open, prices) * MONTH_HOURS,
      unit: "money",
      source,
    },
  ];
}

function missingSavings(
  { advised, problems, prices }: ReportInput,
): readonly MissingFigure[] {
  const rewritten = advised.filter(({ lastApplyMethod }) => lastApplyMethod === "Recreate");
  const why = [
    ...problems,
    ...(advised.length === 0 && problems.length === 0
      ? ["no OptimizationPolicy has looked at a workload here"]
      : []),
    ...(rewritten.length === 0 ? [] : [
      "what workloads requested before rightsizing changed their templates is not recorded; " +
      `there are ${rewritten.length} of them`,
    ]),
  ];
  return [
    ...why.map((why) => ({ key: "requestsSaved", figure: "Requests saved", why })),
    ...(prices === undefined && advised.length > 0
      ? [{
        key: "money",
        figure: "Money",
        why: "no prices are given: add --core-hour and --gib-hour",
      }]
      : []),
  ];
}
