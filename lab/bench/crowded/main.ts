/**
 * The crowded scene on a real node, for ten minutes: `deno task bench:crowded`.
 *
 * @module
 */
import { Command } from "commander";
import { auditLog } from "../../../tests/cluster/harness/component.ts";
import { instanceNamed } from "../../../tests/cluster/harness/instance.ts";
import { createKubectl } from "../../../tests/cluster/kubectl.ts";
import { openRealNode } from "../../../tests/cluster/scene/real_node.ts";
import { parseFlags, printAnswer, wholeNumber } from "../parse_flags.ts";
import { loadServiceImage } from "../services/service_image.ts";
import { playCrowd } from "./play_crowd.ts";
import { verdictsOf } from "./verdicts.ts";

interface Flags {
  readonly json: boolean;
  readonly minutes: number;
  readonly seed: number;
}

async function main(args: readonly string[]): Promise<number> {
  const program = new Command("bench:crowded")
    .description(
      "A node with quotas, a LimitRange, two priorities, an autoscaler, an opted-out pod, one that " +
        "is never Ready and eight equal workers, under load: the server's refusals, and changes " +
        "that the market should not have made. Needs root on the node of the harness. Exit code " +
        "1: a goal was not met.",
    )
    .option("--json", "print JSON instead of the goals", false)
    .option("--minutes <n>", "length of the run", wholeNumber, 10)
    .option("--seed <n>", "seed of the requests", wholeNumber, 1);
  const flags = parseFlags<Flags>(program, args);
  if ("exitCode" in flags) return printAnswer(flags);
  const instance = Deno.env.get("COALLOCATOR_CLUSTER");
  if (instance === undefined) {
    throw new Error(
      "Cannot play on a real node: this is outside of the harness; run deno task bench:crowded",
    );
  }
  await loadServiceImage(instance);
  using node = await openRealNode();
  const result = await playCrowd({
    connection: node.connection,
    kubectl: createKubectl(),
    auditFile: auditLog(instanceNamed(instance)),
    seed: flags.seed,
    seconds: 60 * flags.minutes,
    onProgress: (doneS) => console.error(`${doneS} s`),
  });
  const verdicts = verdictsOf(result);
  const lines = verdicts.map(({ goal, met, found }) =>
    `${met ? "met" : "NOT MET"} ${goal}: ${found}`
  );
  console.log(
    flags.json ? JSON.stringify({ verdicts, ...result }, undefined, 2) : lines.join("\n"),
  );
  return verdicts.every(({ met }) => met) ? 0 : 1;
}

if (import.meta.main) Deno.exitCode = await main(Deno.args);
