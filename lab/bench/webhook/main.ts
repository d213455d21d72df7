/**
 * Admissions of pods through the leader's webhook: `deno task bench:webhook`. The client runs with the
 * leader's flags: its own pauses, of several milliseconds else, would count as the leader's.
 *
 * @module
 */
import { measureStolen } from "../services/machine_use.ts";
import { parseWebhookBench } from "./command_line.ts";
import { runLoad } from "./load.ts";
import { startLeader } from "./leader.ts";
import { webhookReport, webhookTable } from "./report.ts";
import { printAnswer } from "../parse_flags.ts";

/** Until V8 has compiled what is run often, s. */
const WARM_UP_S = 20;
/** Of the workload with pods that come and go. */
const PODS = 500;

const request = parseWebhookBench(Deno.args);
if ("exitCode" in request) Deno.exit(printAnswer(request));
const { json, seconds, rate } = request;
await using leader = await startLeader(PODS);
// Connections, compiled code and all pods are there before memory is looked at.
await runLoad(leader, { seconds: WARM_UP_S, rate, pods: PODS, name: "first" });
const before = await leader.memory();
const stolenSince = measureStolen();
const load = await runLoad(leader, { seconds, rate, pods: PODS, name: "second" });
const stolen = stolenSince();
const after = await leader.memory();
const report = webhookReport({ seconds, rate, ...load, stolen, before, after });
console.log(json ? JSON.stringify(report, undefined, 2) : webhookTable(report));
if (!report.held) Deno.exitCode = 1;
