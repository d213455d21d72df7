import { ApiError } from "../shared/api/api_error.ts";
import { type LogFields, silentLog } from "../shared/log.ts";
import { DEFAULT_PACE } from "../shared/pacing/pace_options.ts";
import { seededRandom } from "../shared/random.ts";
import { createVirtualClock } from "../lab/simulation/virtual_clock.ts";
import { sampleNode } from "../tests/contract/support/sample_objects.ts";
import { assertSentences } from "../tests/fixtures/assert_sentences.ts";
import { createMemoryTree } from "../tests/fixtures/memory_tree.ts";
import { boundedAllocation, sampleBounds } from "../tests/fixtures/market/sample_participants.ts";
import { runHeartbeat } from "./reporting/heartbeat.ts";
import { createLatestRound } from "./reporting/node_view.ts";
import { nodeTable, sampleOnce } from "./sampling/sample_once.ts";
import { createParticipantIndex } from "./market/participants.ts";

function test(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, permissions: "none", fn });
}

/** Why an allocation with these bounds is left out. */
function refusal(change: Partial<ReturnType<typeof sampleBounds>>): string {
  const bounds = { revision: 1, reason: "", containers: [sampleBounds("web", change)] };
  const allocation = boundedAllocation("web", { status: { bounds } });
  let warned = "";
  const warn = (_message: string, fields: LogFields = {}) => void (warned = `${fields.reason}`);
  createParticipantIndex({ ...silentLog, warn }).update([boundedAllocation("a"), allocation]);
  return warned;
}

test("sentences of allocations that are left out", () =>
  assertSentences([
    [
      "floor and ceiling",
      () => refusal({ floor: 300, ceiling: 200 }),
      "container app: floor 300 is above ceiling 200",
    ],
    [
      "ceiling",
      () => refusal({ ceiling: 1e10 }),
      "container app: ceiling is 10000000000, expected at most 1000000000 millicores",
    ],
    [
      "weight",
      () => refusal({ weight: 1e-7 }),
      "container app: weight is 1e-7, expected a number from 0.000001 to 1000000000",
    ],
    [
      "clash",
      () => refusal({ containerID: "containerd://61" }),
      "another one has one of its containers",
    ],
  ]));

function probe(now: number, synced: boolean): string {
  const world = { now: 0 };
  const latest = createLatestRound({
    clock: { wall: () => 0, monotonic: () => world.now },
    pace: DEFAULT_PACE,
    idleCPU: "free",
    stuckAfterMs: 30_000,
    synced: () => synced,
  });
  world.now = now;
  return latest.unready() ?? "";
}

/** The warning of a heartbeat after failed requests for the node, or for the Lease. */
async function heartbeat(failing: "node" | "renewLease"): Promise<string> {
  const clock = createVirtualClock({ wallStart: 0 });
  const end = new AbortController();
  let warned = "";
  const fail = () => Promise.reject(new ApiError(403, "Forbidden", ""));
  const link = {
    node: () => Promise.resolve(sampleNode("node-1")),
    renewLease: () => Promise.resolve(),
    [failing]: fail,
  };
  const log = { ...silentLog, warn: (message: string) => void (warned = message) };
  const random = seededRandom(1);
  const running = runHeartbeat({ link, clock, random, log }, end.signal, { seen: () => {} });
  await clock.runUntil(60_000);
  end.abort();
  await clock.runUntil(120_000);
  await running;
  return warned;
}

const CONTAINER = `kubepods/pod0a4f7c1e-5d0b-4f6e-9a51-1c0f6a7b8d01/${"a".repeat(64)}`;

/** The warnings of a look at these files. */
async function look(files: Readonly<Record<string, string>>): Promise<string> {
  const clock = { wall: () => 0, monotonic: () => 0, sleep: () => Promise.resolve() };
  const parts = { tree: createMemoryTree(files), clock, fallbackCores: 3 };
  return (await sampleOnce(parts, { intervalMs: 250 })).warnings.join();
}

test("sentences of probes, logs and the node's table", () => {
  const view = { layout: "cgroup v2", cores: 4, intervalMs: 250.4, pods: [], warnings: [] };
  return assertSentences([
    ["stuck", () => probe(30_001, true), "the loop has stood still for 30s"],
    [
      "not in sync",
      () => probe(0, false),
      "the allocations of the node are not in sync with the API",
    ],
    ["no node", () => probe(0, true), "the node is not known yet"],
    ["node", () => heartbeat("node"), "Cannot look at the node"],
    ["Lease", () => heartbeat("renewLease"), "Cannot renew the lease"],
    [
      "table",
      () => nodeTable(view).split("\n")[1] ?? "",
      "0 pods, 0 containers, 4 CPUs, 250 ms between the looks",
    ],
    [
      "CPUs",
      () => look({ "kubepods/cpu.stat": "", "cpuset.cpus.effective": "all\n" }),
      'Cannot count the node\'s CPUs: Cannot parse cpuset.cpus.effective: line 1 is "all", expected ' +
      "a counter",
    ],
    [
      "file",
      () => look({ [`${CONTAINER}/cpu.max`]: "much\n" }),
      `Cannot use a cgroup's file ${CONTAINER}/cpu.max: Cannot parse cpu.max: line 1 is "", ` +
      "expected a counter",
    ],
  ]);
});
