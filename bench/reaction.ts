/**
 * How long a burst waits for its CPU: from the burst in a pod to the larger quota in its cgroup,
 * through agent, API server, controller and kubelet, on the node of `KUBECONFIG` that runs here.
 *
 * `--idle-cpu tight`: limits follow demand, and the node has CPU for each burst. `--idle-cpu free`:
 * limits bind only while CPU is scarce. So one pod is busy all the time, the others take more than
 * their shares until their limits are lowered, and rest; then each bursts. With `--saturate` a pod
 * outside of the market is busy on all CPUs, too.
 *
 * @module
 */
import { Command, Option } from "commander";
import { IDLE_CPU, type IdleCPU } from "../shared/config/idle_cpu_row.ts";
import { openRealNode } from "../tests/cluster/scene/real_node.ts";
import { scratchNamespace } from "../tests/cluster/scene/scratch_namespace.ts";
import { pause } from "../tests/cluster/scene/until.ts";
import { withSettings } from "../tests/cluster/scene/with_settings.ts";
import { wholeNumber } from "./whole_number.ts";
import { burst, record } from "./reaction/scene.ts";
import { BURST_SECONDS, burstingPods, busyPod, ration, saturatingPod } from "./reaction/pods.ts";
import { type BurstLegs, legsOf, reactionReport, reactionTable } from "./reaction/report.ts";

const { json, idleCpu: idleCPU, saturate, bursts: wanted } = new Command("bench:reaction")
  .description("Burst in a pod to larger quota in its cgroup. Needs root on the node itself.")
  .option("--json", "print JSON instead of a table", false)
  .addOption(
    new Option("--idle-cpu <value>", "market.idleCPU").choices([...IDLE_CPU]).default("tight"),
  )
  .option("--saturate", "all CPUs are busy outside of the market, too", false)
  .option("--bursts <n>", "number of bursts", wholeNumber, 50)
  .parse(Deno.args[0] === "--" ? Deno.args.slice(1) : Deno.args, { from: "user" })
  .opts<{ json: boolean; idleCpu: IdleCPU; saturate: boolean; bursts: number }>();

/** A burst that was not answered while it lasted is missed. */
const TIMEOUT_MS = 1000 * BURST_SECONDS;
const SETTLE_MS = 30_000;
const EVERY_MS = { tight: 6000, free: 2200 } as const;
/** So many fit into the time before the limits go back to their ceilings. */
const BURSTS_A_RATION = 4;

const log = (text: string): void => console.error(text);
using node = await openRealNode();
// The limits that the agent wants are in its log at this level.
await using _settings = await withSettings({ log: { level: "debug" }, market: { idleCPU } });
await using namespace = await scratchNamespace(node.connection);
const targets = await burstingPods(node, { namespace: namespace.name, idleCPU });
await using recorder = await record(node, namespace.name);
if (saturate) await saturatingPod(node, namespace.name);
log(`waiting ${SETTLE_MS / 1000} s for the limits to settle`);
await pause(SETTLE_MS);
const atCeiling = targets.filter(({ limit, ceiling }) => limit() >= ceiling).length;
log(`${atCeiling} of ${targets.length} limits are at their ceilings before the first burst`);
if (idleCPU === "free") await busyPod(node, namespace.name);

const answered: BurstLegs[] = [];
const counts = { begun: 0, missed: 0, ready: 0 };
while (counts.begun < wanted) {
  const target = targets[counts.begun % targets.length];
  if (target === undefined) break;
  if (idleCPU === "free" && counts.begun % BURSTS_A_RATION === 0 && !await ration(targets)) {
    log("limits were not lowered");
  }
  const number = `${++counts.begun}/${wanted}`;
  const next = performance.now() + EVERY_MS[idleCPU];
  const from = target.limit();
  const times = await burst(target, { timeoutMs: TIMEOUT_MS });
  // What the watches bring may come after the quota is seen.
  await pause(300);
  if (times !== undefined) {
    const legs = legsOf(times, recorder.of(target.pod));
    answered.push(legs);
    log(`${number}: ${legs.totalMs.toFixed(0)} ms, ${from} -> ${times.to} m`);
  } else if (from >= target.ceiling) {
    counts.ready++;
    log(`${number}: at its ceiling of ${target.ceiling} m before`);
  } else {
    counts.missed++;
    log(`${number}: no quota above ${from} m within ${TIMEOUT_MS} ms`);
  }
  await pause(Math.max(0, next - performance.now()));
}
const report = reactionReport(answered, {
  missed: counts.missed,
  ready: counts.ready,
  scene: `idle CPU ${idleCPU}, ${saturate ? "saturated" : "quiet"}, ${targets.length} pods on ` +
    `${navigator.hardwareConcurrency} CPUs`,
  atCeiling: `${atCeiling} of ${targets.length}`,
  timeoutMs: TIMEOUT_MS,
});
if (!report.withinLimits) Deno.exitCode = 1;
console.log(json ? JSON.stringify(report) : reactionTable(report));
