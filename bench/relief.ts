/**
 * What the market does for one throttled pod on a real node: its figures with its own limit, then
 * with the market. On the node of `KUBECONFIG`, with the product installed.
 *
 * @module
 */
import { Command } from "commander";
import { loadPod } from "../tests/cluster/scene/load_pod.ts";
import {
  cpuAccount,
  type PodDirectories,
  podDirectories,
  quotaOf,
} from "../tests/cluster/scene/node_cgroups.ts";
import { openRealNode } from "../tests/cluster/scene/real_node.ts";
import { scratchNamespace } from "../tests/cluster/scene/scratch_namespace.ts";
import { pause } from "../tests/cluster/scene/until.ts";
import { reliefReport, type ReliefSample, reliefTable } from "./relief/report.ts";
import { wholeNumber } from "./whole_number.ts";

const { json, before, after } = new Command("bench:relief")
  .description("A throttled pod's figures before and after the market. Needs root on the node.")
  .option("--json", "print JSON instead of a table", false)
  .option("--before <seconds>", "time with the pod's own limit", wholeNumber, 60)
  .option("--after <seconds>", "time with the market, convergence included", wholeNumber, 360)
  .parse(Deno.args[0] === "--" ? Deno.args.slice(1) : Deno.args, { from: "user" })
  .opts<{ json: boolean; before: number; after: number }>();

const OWN_LIMIT = 200;
/** Some 400m where nothing holds it back, and at most 600m in any period. */
const BEAT = { count: 20_000, sleepMs: 50 };
const LOOK_MS = 100;
const say = (text: string): void => console.error(text);

using node = await openRealNode();
await using namespace = await scratchNamespace(node.connection, {
  annotations: { "mbcas.io/managed": "false" },
});
const pod = await node.run(loadPod({
  name: "throttled",
  namespace: namespace.name,
  containers: [{ name: "load", request: "100m", limit: `${OWN_LIMIT}m`, beat: BEAT }],
}));
const directories = podDirectories(pod);

/** Looks at the pod for some seconds. */
async function observe(seconds: number): Promise<ReliefSample[]> {
  const samples: ReliefSample[] = [];
  const start = performance.now();
  while (performance.now() - start < 1000 * seconds) {
    samples.push(sampleOf(directories));
    await pause(LOOK_MS);
  }
  return samples;
}

function sampleOf(directories: PodDirectories): ReliefSample {
  const container = directories.containers.get("load") ?? "";
  const limit = quotaOf(container, directories.version) ?? Infinity;
  return { at: performance.now(), limit, ...cpuAccount(directories) };
}

say(`${before} s with its own limit of ${OWN_LIMIT}m`);
const alone = await observe(before);
const optedInAt = performance.now();
await node.connection.request({
  method: "PATCH",
  path: `/api/v1/namespaces/${namespace.name}`,
  contentType: "application/merge-patch+json",
  body: { metadata: { annotations: { "mbcas.io/managed": null } } },
});
say(`${after} s with the market`);
const managed = await observe(after);
const report = reliefReport({ alone, managed, optedInAt });
console.log(json ? JSON.stringify(report) : reliefTable(report));
