/**
 * What the check of modelled latencies prints.
 *
 * @module
 */
import { alignedColumns } from "../aligned_columns.ts";
import {
  auditRecording,
  costBound,
  isIdle,
  type RecordingAudit,
  type ServiceReaction,
  serviceReactions,
} from "./audit.ts";
import {
  type Bottleneck,
  fitBottleneck,
  modelledCurves,
  predict,
  type Prediction,
} from "./bottleneck.ts";
import { compareEqualSplit, type EqualSplit } from "./equal_split.ts";
import type { RecordedRun } from "./recording.ts";

/** The runs recorded under one policy. */
export interface Recording {
  readonly policy: string;
  readonly runs: readonly RecordedRun[];
}

/** All findings. */
export interface LatencyReport {
  readonly audits: readonly (RecordingAudit & { policy: string; idle: number })[];
  readonly reactions: readonly { policy: string; services: readonly ServiceReaction[] }[];
  readonly equalSplit: EqualSplit;
  /** For each policy the bottleneck fitted on it, and how it predicts the others and itself. */
  readonly bottlenecks: readonly (Omit<Bottleneck, "p99"> & {
    readonly policy: string;
    readonly predictions: readonly (Prediction & { readonly policy: string })[];
  })[];
}

/**
 * Compares the node model with recordings: `equal` of equal units throughout, `varied` of units that
 * a policy changed.
 */
export function latencyReport(
  { equal, varied }: { readonly equal: Recording; readonly varied: readonly Recording[] },
  { count, seed }: { readonly count: number; readonly seed: number },
): LatencyReport {
  const reactions = varied.map(({ policy, runs }) => ({
    policy,
    services: serviceReactions(runs),
  }));
  const boundMs = costBound(reactions.map(({ services }) => services));
  const curves = modelledCurves({ count, seed });
  return {
    audits: [equal, ...varied].map(({ policy, runs }) => ({
      policy,
      ...auditRecording(runs),
      idle: runs.filter(isIdle).length,
    })),
    reactions,
    equalSplit: compareEqualSplit(equal.runs, { boundMs, count, seed }),
    bottlenecks: varied.map(({ policy, runs }) => {
      const bottleneck = fitBottleneck(runs, curves);
      const { service, costMs, constantMs } = bottleneck;
      const predictions = varied.map((other) => ({
        policy: other.policy,
        ...predict(other.runs, bottleneck),
      }));
      return { policy, service, costMs, constantMs, predictions };
    }),
  };
}

/** The report for people. */
// deno-lint-ignore house/function-length
export function latencyTable(report: LatencyReport): string {
  const { audits, reactions, equalSplit, bottlenecks } = report;
  const { recorded, models, atBound } = equalSplit;
  return [
    "What the recorded figures are worth",
    ...alignedColumns([
      [
        "policy",
        "runs",
        "P99 as printed",
        "mean > P99",
        "P99 100-120",
        "its r with mean",
        "r of P99, spread",
        "idle",
      ],
      ...audits.map((audit) => [
        audit.policy,
        `${audit.runs}`,
        percent(audit.printable),
        percent(audit.meanAboveP99),
        percent(audit.atFloor),
        decimal(audit.floorCorrelation),
        decimal(audit.spreadCorrelation),
        `${audit.idle}`,
      ]),
    ]),
    "",
    "Rank correlation of a service's units and the latency's spread; more CPU should make it negative",
    ...alignedColumns([
      ["policy", "lowest", "highest", "above 0", "fewest units in an idle run"],
      ...reactions.map(({ policy, services }) => {
        const sorted = services.toSorted((a, b) => a.correlation - b.correlation);
        const [low, high] = [sorted[0], sorted.at(-1)];
        return [
          policy,
          `${low?.service} ${decimal(low?.correlation)}`,
          `${high?.service} ${decimal(high?.correlation)}`,
          `${services.filter((service) => service.correlation > 0).length} of ${services.length}`,
          range(services.map((service) => service.fewestWhenIdle)),
        ];
      }),
    ]),
    "",
    "Equal units: medians, ms, and the model fitted to the mean",
    ...alignedColumns([
      [
        "",
        "cost",
        "completed",
        "mean",
        "spread",
        "P99",
        "P99 of 5-95 %",
        "P99/mean",
        "r",
        "ln error",
      ],
      ["recorded", "", ...figures(recorded), ""],
      ...models.map(({ dealing, costMs, figures: modelled, p99Error }) => [
        `connections ${dealing}`,
        decimal(costMs),
        ...figures(modelled),
        decimal(p99Error),
      ]),
      ["at the bound", decimal(atBound.costMs), ...figures(atBound.figures), ""],
    ]),
    "",
    "A bottleneck fitted on one policy, and how it predicts the others: r with P99, r with spread, error of ln P99 (without a model)",
    ...alignedColumns([
      ["fitted on", "service", "cost", ...bottlenecks.map(({ policy }) => policy)],
      ...bottlenecks.map(({ policy, service, costMs, predictions }) => [
        policy,
        service,
        decimal(costMs),
        ...predictions.map((predicted) =>
          [
            decimal(predicted.p99Correlation),
            decimal(predicted.spreadCorrelation),
            `${decimal(predicted.error)} (${decimal(predicted.constantError)})`,
          ].join(", ")
        ),
      ]),
    ]),
  ].join("\n");
}

function figures(of: EqualSplit["recorded"]): string[] {
  return [
    percent(of.completed),
    of.meanMs.toFixed(0),
    of.spreadMs.toFixed(0),
    of.p99Ms.toFixed(0),
    of.p99Range.map((ms) => ms.toFixed(0)).join("-"),
    of.tail.toFixed(1),
    decimal(of.knee),
  ];
}

function range(values: readonly number[]): string {
  return `${Math.min(...values)} to ${Math.max(...values)}`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

function decimal(value: number | undefined): string {
  return value === undefined || Number.isNaN(value) ? "-" : value.toFixed(2);
}
