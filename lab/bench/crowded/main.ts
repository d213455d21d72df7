/**
 * The crowded scene on a real node, with the product and without: `deno task bench:crowded`.
 *
 * @module
 */
import { auditLog } from "../../../tests/cluster/harness/components/component.ts";
import { instanceNamed } from "../../../tests/cluster/harness/instance.ts";
import { createKubectl } from "../../../tests/cluster/kubectl.ts";
import { openRealNode } from "../../../tests/cluster/scene/real_node.ts";
import { type CrowdedBench, parseCommandLine } from "./command_line.ts";
import { allMet, compareReplicas, crowdReport } from "./crowd_report.ts";
import { type CrowdResult, readCrowdResult, writeCrowdResult } from "./crowd_result.ts";
import { playCrowd } from "./play_crowd.ts";
import { verdictsOf } from "./verdicts.ts";
import { loadServiceImage } from "../services/service_image.ts";
import { printAnswer } from "../parse_flags.ts";

const say = (text: string): void => console.error(text);

async function main(args: readonly string[]): Promise<number> {
  const parsed = parseCommandLine(args);
  if ("exitCode" in parsed) return printAnswer(parsed);
  if (!parsed.report) await playAll(parsed);
  const results = await readAll(parsed);
  if (results.length === 0) {
    console.error(`Cannot report: there are no such results in ${parsed.results}`);
    return 1;
  }
  console.log(parsed.json ? jsonOf(results, parsed) : crowdReport(results));
  return allMet(results, parsed) ? 0 : 1;
}

async function playAll(options: CrowdedBench): Promise<void> {
  const instance = Deno.env.get("COALLOCATOR_CLUSTER");
  if (instance === undefined) {
    throw new Error(
      "Cannot play on a real node: this is outside of the harness; run deno task bench:crowded",
    );
  }
  await loadServiceImage(instance);
  using node = await openRealNode();
  const auditFile = auditLog(instanceNamed(instance));
  const place = { connection: node.connection, kubectl: createKubectl(), auditFile };
  for (const { law, seed, seconds } of plannedRuns(options)) {
    const title = `${law}, seed ${seed}`;
    say(`${title}: ${seconds} s from about ${new Date().toISOString()}`);
    const result = await playCrowd(law, {
      ...place,
      seed,
      seconds,
      onProgress: (doneS) => say(`${title}: ${doneS} s`),
    });
    say(`${title}: ${await writeCrowdResult(options.results, result)}`);
  }
}

type PlannedRun = Pick<CrowdResult, "law" | "seed" | "seconds">;

/** Algorithms take turns, so that what changes on the machine meanwhile changes for both. */
function plannedRuns({ laws, runs, seed, minutes }: CrowdedBench): PlannedRun[] {
  return Array.from(
    { length: runs },
    (_, run) => laws.map((law) => ({ law, seed: seed + run, seconds: 60 * minutes })),
  ).flat();
}

async function readAll(options: CrowdedBench): Promise<CrowdResult[]> {
  const results: CrowdResult[] = [];
  for (const run of plannedRuns(options)) {
    const result = await readCrowdResult({ folder: options.results, ...run });
    if (result !== undefined) results.push(result);
  }
  return results;
}

function jsonOf(results: readonly CrowdResult[], asked: CrowdedBench): string {
  const runs = results.map((result) => ({ ...result, verdicts: verdictsOf(result) }));
  const answer = { met: allMet(results, asked), replicas: compareReplicas(results) ?? null, runs };
  return JSON.stringify(answer, undefined, 2);
}

if (import.meta.main) Deno.exitCode = await main(Deno.args);
