/**
 * How long a burst waits for its CPU: from the burst in a pod to the larger quota in its cgroup,
 * through agent, API server, controller and kubelet, on the node of `KUBECONFIG` that runs here.
 *
 * As it stands the pods' ceilings fit on a node of 2 CPUs together and idle CPU is not lent, so that
 * each burst finds the CPU free that it is given: what is measured is the chain. A pod that was lent
 * CPU may be at its ceiling before its burst begins, and while all of the node is lent a burst waits
 * until some is taken back.
 *
 * @module
 */
import { Command } from "commander";
import { loadPod } from "../tests/cluster/scene/load_pod.ts";
import { appliedAllocation } from "../tests/cluster/scene/agreement.ts";
import { openRealNode } from "../tests/cluster/scene/real_node.ts";
import { scratchNamespace } from "../tests/cluster/scene/scratch_namespace.ts";
import { pause } from "../tests/cluster/scene/until.ts";
import { withSettings } from "../tests/cluster/scene/with_settings.ts";
import { wholeNumber } from "./whole_number.ts";
import { burst, record, targetOf } from "./reaction/scene.ts";
import { type BurstLegs, legsOf, reactionReport, reactionTable } from "./reaction/report.ts";

const options = new Command("bench:reaction")
  .description("Burst in a pod to larger quota in its cgroup. Needs root on the node itself.")
  .option("--json", "print JSON instead of a table", false)
  .option("--bursts <n>", "number of bursts", wholeNumber, 50)
  .option("--pods <n>", "pods that take turns", wholeNumber, 8)
  .option("--every <seconds>", "time from burst to burst", wholeNumber, 6)
  .option(
    "--own-limit <millicores>",
    "the pods' own limits; ceilings are 4 times",
    wholeNumber,
    50,
  )
  .option("--lend-up-to <share>", "the agent's setting; 0 lends no idle CPU", "0")
  .parse(Deno.args[0] === "--" ? Deno.args.slice(1) : Deno.args, { from: "user" })
  .opts<{
    json: boolean;
    bursts: number;
    pods: number;
    every: number;
    ownLimit: number;
    lendUpTo: string;
  }>();

/** A burst that was not answered by then is missed. */
const TIMEOUT_MS = 10_000;
const SETTLE_MS = 45_000;

const say = (text: string): void => console.error(text);
using node = await openRealNode();
// The agent's wishes are in its log at this level; but for lending all else is as shipped.
await using _settings = await withSettings({
  log: { level: "debug" },
  agent: { lendUpTo: Number(options.lendUpTo) },
});
await using namespace = await scratchNamespace(node.connection);
const limit = `${options.ownLimit}m`;
const pods = await Promise.all(
  Array.from({ length: options.pods }, (_, i) =>
    node.run(loadPod({
      name: `burst-${i}`,
      namespace: namespace.name,
      containers: [{ name: "load", request: "50m", limit, burstSeconds: 2 }],
    }))),
);
for (const pod of pods) await appliedAllocation(node, pod);
const targets = pods.map(targetOf);
await using recorder = await record(node, namespace.name);
say(`waiting ${SETTLE_MS / 1000} s for the limits to settle`);
await pause(SETTLE_MS);

const bursts: BurstLegs[] = [];
const modes = new Map<string, number>();
for (let i = 0; i < options.bursts; i++) {
  const target = targets[i % targets.length];
  if (target === undefined) break;
  const next = performance.now() + 1000 * options.every;
  const times = await burst(target, { timeoutMs: TIMEOUT_MS });
  const mode = recorder.mode(target.pod);
  modes.set(mode, (modes.get(mode) ?? 0) + 1);
  if (times === undefined) {
    say(
      `${
        i + 1
      }/${options.bursts}: no quota above ${target.limit()} m within ${TIMEOUT_MS} ms (${mode})`,
    );
  } else {
    // What the watches bring may come after the quota is seen.
    await pause(500);
    const legs = legsOf(times, recorder.of(target.pod));
    bursts.push(legs);
    const step = `${times.from.toFixed(0)} -> ${times.to.toFixed(0)} m`;
    say(`${i + 1}/${options.bursts}: ${legs.totalMs.toFixed(0)} ms, ${step} (${mode})`);
  }
  await pause(Math.max(0, next - performance.now()));
}
const report = reactionReport(bursts, {
  missed: options.bursts - bursts.length,
  modes: Object.fromEntries(modes),
  scene: `${options.pods} pods of ${limit} (ceiling ${4 * options.ownLimit}m) on ` +
    `${navigator.hardwareConcurrency} CPUs, lending up to ${options.lendUpTo}, ` +
    `one burst of 1 thread for 2 s each ${options.every} s`,
  lendUpTo: Number(options.lendUpTo),
  timeoutMs: TIMEOUT_MS,
});
if (!report.withinLimits) Deno.exitCode = 1;
console.log(options.json ? JSON.stringify(report) : reactionTable(report));
