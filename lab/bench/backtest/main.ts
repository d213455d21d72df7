/**
 * Plays rules of rightsizing over recorded usage: `deno task bench:back-test`. Its figures stand in
 * `docs/back-test.md`.
 *
 * @module
 */
import { playRules } from "../../simulation/rightsizing/play_rules.ts";
import { parseBackTestBench } from "./command_line.ts";
import { backTestTable } from "./report.ts";
import { ownScenes, playOptions, shippedScenes } from "./scenes.ts";
import { printAnswer } from "../parse_flags.ts";

const request = parseBackTestBench(Deno.args);
if ("exitCode" in request) Deno.exit(printAnswer(request));
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
