/**
 * `simulate --policy`: what a policy would have done over a recorded history.
 *
 * @module
 */
import {
  readUsage,
  type UsageHistory,
} from "../../../../lab/simulation/rightsizing/usage_history.ts";
import { replayPolicy } from "../../../../lab/simulation/rightsizing/replay_policy.ts";
import { guessOf } from "../../../../lab/simulation/trace_files.ts";
import { guessTraceFormat } from "../../../../lab/simulation/trace.ts";
import type { CoallocWorld } from "../../ports.ts";
import { structuredOutput } from "../../output.ts";
import { chooseSeries, readText } from "../read_history.ts";
import type { SimulateContext } from "../simulate_command.ts";
import { policyInFile } from "./policy_in_file.ts";
import type { PolicyRequest } from "../simulate_request.ts";
import { policyData, type PolicyStory, policyText } from "./policy_text.ts";

/** Replays the policy and shows what came of it. Resolves with the exit code. */
export async function simulatePolicy(
  request: PolicyRequest,
  { world, look }: SimulateContext,
): Promise<number> {
  const { policy: path, output } = request;
  const named = policyInFile(
    await readText(path, { readFile: world.readFile, what: "policy" }),
    path,
  );
  const history = await readUsageOf(request, world);
  const played = world.runBlocking(() => replayPolicy(history, named.policy));
  const story: PolicyStory = { named, history, played };
  world.out(structuredOutput(policyData(story), output) ?? policyText(story, look));
  return 0;
}

async function readUsageOf(
  { source: { path, format, series }, resource }: PolicyRequest,
  world: Pick<CoallocWorld, "readFile" | "err">,
): Promise<UsageHistory> {
  const text = await readText(path, { readFile: world.readFile, what: "history" });
  const taken = format ?? guessTraceFormat(text);
  const refuse = (state: string): SyntaxError =>
    new SyntaxError(`Cannot read history "${path}": ${state}`);
  if (series !== undefined && taken !== "prometheus") {
    throw refuse(`it is taken for ${taken}, and --series chooses in a Prometheus export`);
  }
  const body = taken === "prometheus" ? chooseSeries(text, { refuse, wanted: series }) : text;
  const history = readUsage(body, { name: path, resource, format: taken });
  const { guess } = format === undefined ? guessOf(path, taken) : {};
  if (guess !== undefined) world.err(`${guess}\n`);
  return history;
}
