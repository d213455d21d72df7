/**
 * Plays rules of rightsizing over recorded usage: what they would have covered and wasted, how often a
 * limit would have throttled, and how often memory would have been killed: `deno task
 * bench:back-test`. Its figures are in `docs/back-test.md`.
 *
 * @module
 */
import { Command, Option } from "commander";
import type { ResourceName } from "../../../shared/api/pod.ts";
import { playRules } from "../../simulation/rightsizing/play_rules.ts";
import { benchFlags, wholeNumber } from "../bench.ts";
import { backTestTable } from "./report.ts";
import { ownScenes, playOptions, shippedScenes } from "./scenes.ts";

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
