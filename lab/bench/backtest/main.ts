/**
 * Plays rules of rightsizing over recorded usage: what they would have covered and wasted, how often a
 * limit would have throttled, and how often memory would have been killed: `deno task
 * bench:back-test`. Its figures are in `docs/back-test.md`.
 *
 * @module
 */
import { Command, Option } from "commander";
import type { ResourceName } from "../../../shared/api/pod.ts";
import {
  type DayQuantiles,
  type PlayedRules,
  playRules,
} from "../../simulation/rightsizing/play_rules.ts";
import { benchFlags, columns, wholeNumber } from "../bench.ts";
import { ownScenes, playOptions, shippedScenes } from "./scenes.ts";
import { formatFigure } from "../../simulation/report/figure.ts";

const LEGEND = [
  "covered: share of minutes with usage of at most what was set; short: the others",
  "waste: mean of max(0, set - usage) by mean usage; both are means over series",
  "days: P50, P90 and P99 over the days of all series; changes: per day, after the first value",
];

function backTestTable(
  scenes: readonly { title: string; resource: ResourceName; result: PlayedRules }[],
): string {
  return [
    ...scenes.flatMap(({ title, resource, result }) => [
      title,
      columns(overall(result, resource)),
      "",
      "covered % / waste by series",
      columns(bySeries(result)),
      "",
    ]),
    ...LEGEND,
  ].join("\n");
}

function overall({ rules }: PlayedRules, resource: ResourceName): string[][] {
  const last = resource === "cpu" ? "min over limit" : "kills";
  return [
    ["rule", "covered %", "short days %", "waste", "waste days", "changes", last],
    ...rules.map((rule) => [
      rule.label,
      percent(rule.coverage),
      quantiles(rule.shortDays, (share) => (share * 100).toFixed(1)),
      formatFigure(rule.waste),
      quantiles(rule.wasteDays, formatFigure),
      rule.changesPerDay.toFixed(2),
      String(resource === "cpu" ? rule.overLimitMinutes : rule.kills),
    ]),
  ];
}

function bySeries({ series, rules }: PlayedRules): string[][] {
  return [
    ["rule", ...series.map(({ name }) => name)],
    ...rules.map(({ label }) => [
      label,
      ...series.map((one) => {
        const found = one.rules.find((rule) => rule.label === label)?.judgement;
        if (found === undefined) return "";
        const kills = found.kills > 0 ? ` ${found.kills}k` : "";
        return `${percent(found.coverage)}/${formatFigure(found.waste)}${kills}`;
      }),
    ]),
  ];
}

function quantiles({ p50, p90, p99 }: DayQuantiles, text: (value: number) => string): string {
  return [p50, p90, p99].map(text).join(" ");
}

function percent(share: number): string {
  return (share * 100).toFixed(2);
}

const { json, data, resource, ...times } = benchFlags<{
  data?: string;
  resource: ResourceName;
  intervalMinutes: number;
  warmUpHours: number;
}>(
  new Command("bench:back-test")
    .description("Plays rules of rightsizing over recorded usage.")
    .option("--data <file>", "your own history: CSV of timestamp,value or a Prometheus export")
    .addOption(
      new Option("--resource <name>", "what --data is of: cpu in cores, memory in bytes")
        .choices(["cpu", "memory"]).default("cpu"),
    )
    .option("--interval-minutes <n>", "between two looks of a rule", wholeNumber, 60)
    .option("--warm-up-hours <n>", "played and not judged", wholeNumber, 24),
);
const scenes = data === undefined ? await shippedScenes() : await ownScenes(data, resource);
const played = scenes.map((scene) => ({
  title: scene.title,
  resource: scene.resource,
  result: playRules(scene.histories, playOptions(scene, times)),
}));
console.log(
  json ? JSON.stringify({ ...times, scenes: played }, undefined, 2) : backTestTable(played),
);
