/**
 * Runs a benchmark on a cluster that it brings up first: `on_cluster.ts [--before FILE]
 * [--install] [--name NAME] FOLDER/main.ts [FLAGS]`. Help needs none of it.
 *
 * @module
 */

import { parseArgs } from "node:util";

const at = Deno.args.findIndex((one) => one.endsWith("/main.ts"));
const program = Deno.args.slice(at);
const { values: { before, install, name } } = parseArgs({
  args: Deno.args.slice(0, at),
  options: { before: { type: "string" }, install: { type: "boolean" }, name: { type: "string" } },
});
const named = name === undefined ? [] : ["--name", name];
const run = ["run", "-q", "-A"];
const task = (task: string, ...args: string[]) => ["task", "-q", `cluster:${task}`, ...args];
const steps = program.some((one) => one === "--help" || one === "-h") ? [[...run, ...program]] : [
  ...(before === undefined ? [] : [[...run, before]]),
  task("up", ...named),
  ...(install ? [task("install", "--no-follow")] : []),
  task("exec", ...named, "--", "deno", ...run, ...program),
];
for (const [index, args] of steps.entries()) {
  const stdout = index === steps.length - 1 ? "inherit" : "null";
  const { code } = await new Deno.Command(Deno.execPath(), { args, stdout }).spawn().status;
  if (code !== 0) Deno.exit(code);
}
