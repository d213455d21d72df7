/**
 * The node model's latencies beside recorded ones, and what those are worth:
 * `deno task bench:latency-model`.
 *
 * @module
 */
import { decodeText } from "../simulation/trace_files.ts";
import { parseCommandLine } from "./latency_model/command_line.ts";
import { parseRecording } from "./latency_model/recording.ts";
import { latencyReport, latencyTable, type Recording } from "./latency_model/report.ts";
import { printAnswer } from "./parse_flags.ts";

/** Policies that change the units of services, as their recordings' files have them. */
const VARIED = ["ucbopt", "msevoopt", "mssile"];

async function readRecording(policy: string): Promise<Recording> {
  const file = `../simulation/traces/cilantro-eks-hotelres/${policy}-hr-client.csv.gz`;
  const bytes = await Deno.readFile(new URL(file, import.meta.url));
  return { policy, runs: parseRecording(await decodeText(bytes, policy)) };
}

const request = parseCommandLine(Deno.args);
if ("exitCode" in request) Deno.exit(printAnswer(request));
const { json, runs: count, seed } = request;
const report = latencyReport(
  { equal: await readRecording("propfair"), varied: await Promise.all(VARIED.map(readRecording)) },
  { count, seed },
);
console.log(json ? JSON.stringify(report, undefined, 2) : latencyTable(report));
