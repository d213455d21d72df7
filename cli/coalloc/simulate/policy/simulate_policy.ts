/**
 * `simulate --policy`: what a policy would have done over a recorded history.
 *
 * @module
 */
import { replayPolicy } from "../../../../lab/simulation/rightsizing/replay_policy.ts";
import {
  readUsage,
  type UsageHistory,
} from "../../../../lab/simulation/rightsizing/usage_history.ts";
import { guessOf } from "../../../../lab/simulation/trace_files.ts";
import { structuredOutput } from "../../output.ts";
import type { CoallocWorld } from "../../ports.ts";
import { policyInFile, readSource, readText } from "../read_history.ts";
import type { SimulateContext } from "../simulate_command.ts";
import type { PolicyRequest } from "../simulate_request.ts";
import { policyData, type PolicyStory, policyText } from "./policy_text.ts";

/** Replays the policy and shows what came of it. Resolves with the exit code. */
export async function simulatePolicy(
  request: PolicyRequest,
  { world, look }: SimulateContext,
): Promise<number> {
  const { policy: path, output } = request;
  const text = await readText(path, { readFile: world.readFile, what: "policy" });
  const named = policyInFile(text, path);
  const history = await readUsageOf(request, world);
  const played = world.runBlocking(() => replayPolicy(history, named.policy));
  const story: PolicyStory = { named, history, played };
  world.out(structuredOutput(policyData(story), output) ?? policyText(story, look));
  return 0;
}

async function readUsageOf(
  { source, resource }: PolicyRequest,
  { readFile, err }: Pick<CoallocWorld, "readFile" | "err">,
): Promise<UsageHistory> {
  const name = source.path;
  const refusal = () => (state: string) =>
    new SyntaxError(`Cannot read history "${name}": ${state}`);
  const { body, format } = await readSource(source, { readFile, what: "history", refusal });
  const history = readUsage(body, { name, resource, format });
  const { guess } = source.format === undefined ? guessOf(name, format) : {};
  if (guess !== undefined) err(`${guess}\n`);
  return history;
}
