/**
 * Admissions of pods through the leader's webhook: `deno task bench:webhook`. The client runs with the
 * leader's flags: its own pauses, of several milliseconds else, would count as the leader's.
 *
 * @module
 */
import { Command } from "commander";
import { quantile } from "../../simulation/statistics.ts";
import { benchFlags, goal, printResult, wholeNumber } from "../bench.ts";
import { startLeader } from "./leader.ts";
import { runLoad } from "./load.ts";

/** Until V8 has compiled what is run often, s. */
const WARM_UP_S = 20;
/** Number of pods in the workload with pods that come and go. */
const PODS = 500;

const { json, seconds, rate } = benchFlags<{ seconds: number; rate: number }>(
  new Command("bench:webhook")
    .description("Admissions over TLS on 127.0.0.1. Exits with 1 when a goal is missed.")
    .option("--seconds <n>", "how long", wholeNumber, 60)
    .option("--rate <n>", "admissions a second", wholeNumber, 200),
);
await using leader = await startLeader(PODS);
// Connections, compiled code and all pods are there before memory is looked at.
await runLoad(leader, { seconds: WARM_UP_S, rate, pods: PODS, name: "first" });
const before = await leader.memory();
const { tookMs, faults, spot } = await runLoad(leader, {
  ...{ seconds, rate, pods: PODS, name: "second" },
});
const after = await leader.memory();
const [p50Ms = 0, p99Ms = 0, highestMs = 0] = [0.5, 0.99, 1].map((at) => quantile(tookMs, at));
printResult({
  json,
  figures: { seconds, rate, spot, p50Ms, highestMs, before, after },
  goals: [
    goal("p99, ms", p99Ms, { most: 10 }),
    goal("answers without a class, or none", faults.length, { most: 0 }),
    // The rest may be compiled code.
    goal("memory used after / before", after.used / before.used, { most: 1.1 }),
  ],
  text: [
    `${rate} admissions a second for ${seconds} s through the leader in a process of its own, ` +
    `${spot} on spot; p50 ${p50Ms.toFixed(1)} ms, highest ${highestMs.toFixed(1)} ms`,
    ...faults.slice(0, 1),
  ],
});
