/**
 * Plays rules of rightsizing over recorded usage: `deno task bench:back-test`. Its figures stand in
 * `docs/back-test.md`.
 *
 * @module
 */
import { playRules } from "../simulation/rightsizing/play_rules.ts";
import { parseBackTestBench } from "./backtest/command_line.ts";
import { backTestTable } from "./backtest/report.ts";
import { ownScenes, playOptions, shippedScenes } from "./backtest/scenes.ts";

const request = parseBackTestBench(Deno.args);
if ("exitCode" in request) {
  const write = request.exitCode === 0 ? console.log : console.error;
  write(request.text.trimEnd());
  Deno.exit(request.exitCode);
}
const { json, data, resource, ...times } = request;
const scenes = data === undefined ? await shippedScenes() : await ownScenes(data, resource);
const played = scenes.map((scene) => ({
  title: scene.title,
  resource: scene.resource,
  result: playRules(scene.histories, playOptions(scene, times)),
}));
console.log(
  json ? JSON.stringify({ ...times, scenes: played }, undefined, 2) : backTestTable(played),
);
