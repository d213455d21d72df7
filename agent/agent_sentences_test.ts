import { pure } from "../tests/fixtures/pure.ts";
import { ApiError } from "../shared/api/api_error.ts";
import { type LogFields, silentLog } from "../shared/log.ts";
import type { PaceMemory } from "../shared/market/market_container.ts";
import type { DelayedLimit } from "../shared/pacing/limit_moves.ts";
import { DEFAULT_PACE, newPaceMemory } from "../shared/pacing/paced_container.ts";
import { seededRandom } from "../shared/random.ts";
import { createVirtualClock } from "../lab/simulation/virtual_clock.ts";
import { sampleNode } from "../tests/contract/support/sample_objects.ts";
import { assertSentences, assertTexts } from "../tests/fixtures/assert_sentences.ts";
import { createMemoryTree } from "../tests/fixtures/memory_tree.ts";
import {
  boundedAllocation,
  PLAIN_PACE,
  sampleBounds,
} from "../tests/fixtures/market/sample_participants.ts";
import { runHeartbeat } from "./reporting/heartbeat.ts";
import { createLatestRound } from "./reporting/node_view.ts";
import { nodeTable, sampleOnce } from "./sampling/sample_once.ts";
import { createParticipantIndex } from "./market/participants.ts";
import { type StayingLimit, whyLimitStays, whyWaiting } from "./reporting/why_waiting.ts";
import type { NodeState } from "../shared/scarcity/node_state.ts";

/** Why an allocation with these bounds is left out. */
function refusal(change: Partial<ReturnType<typeof sampleBounds>>): string {
  const bounds = { revision: 1, reason: "", containers: [sampleBounds("web", change)] };
  const allocation = boundedAllocation("web", { status: { bounds } });
  let warned = "";
  const warn = (_message: string, fields: LogFields = {}) => void (warned = `${fields.reason}`);
  createParticipantIndex({ ...silentLog, warn })([boundedAllocation("a"), allocation]);
  return warned;
}

pure("sentences of allocations that are left out", () =>
  assertTexts(
    {
      "floor and ceiling": () => refusal({ floor: 300, ceiling: 200 }),
      "ceiling": () => refusal({ ceiling: 1e10 }),
      "weight": () => refusal({ weight: 1e-7 }),
      "clash": () => refusal({ containerID: "containerd://61" }),
    },
    `\
floor and ceiling
  container app: floor 300 is above ceiling 200
ceiling
  container app: ceiling is 10000000000, expected at most 1000000000 millicores
weight
  container app: weight is 1e-7, expected a number from 0.000001 to 1000000000
clash
  another one has one of its containers
`,
  ));

function probe(now: number, synced: boolean): string {
  const world = { now: 0 };
  const latest = createLatestRound({
    clock: { wall: () => 0, monotonic: () => world.now },
    pace: DEFAULT_PACE,
    idleCPU: "free",
    stuckAfterMs: 30_000,
    synced: () => synced,
    pressure: () => undefined,
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
  const running = runHeartbeat({ link, clock, random, log }, end.signal, {
    heartbeatMs: 60_000,
    onNode: () => {},
  });
  await clock.runUntil(60_000);
  end.abort();
  await clock.runUntil(120_000);
  await running;
  return warned;
}

const CONTAINER = `kubepods/pod0a4f7c1e-5d0b-4f6e-9a51-1c0f6a7b8d01/${"a".repeat(64)}`;

/** The warnings about these files. */
async function warningsOf(files: Readonly<Record<string, string>>): Promise<string> {
  const clock = { wall: () => 0, monotonic: () => 0, sleep: () => Promise.resolve() };
  const parts = { tree: createMemoryTree(files), clock, fallbackCores: 3 };
  return (await sampleOnce(parts, { intervalMs: 250 })).warnings.join();
}

pure("sentences of probes, logs and the node's table", () => {
  const view = { layout: "cgroup v2", cores: 4, intervalMs: 250.4, pods: [], warnings: [] };
  return assertTexts(
    {
      "stuck": () => probe(30_001, true),
      "not in sync": () => probe(0, false),
      "no node": () => probe(0, true),
      "node": () => heartbeat("node"),
      "Lease": () => heartbeat("renewLease"),
      "table": () => nodeTable(view).split("\n")[1] ?? "",
      "CPUs": () => warningsOf({ "kubepods/cpu.stat": "", "cpuset.cpus.effective": "all\n" }),
      "file": () => warningsOf({ [`${CONTAINER}/cpu.max`]: "much\n" }),
    },
    `\
stuck
  the loop has stood still for 30s
not in sync
  the allocations of the node are not in sync with the API
no node
  the node is not known yet
node
  Cannot read the node
Lease
  Cannot renew the lease
table
  0 pods, 0 containers, 4 CPUs, 250 ms between the samples
CPUs
  Cannot count the node's CPUs: Cannot parse cpuset.cpus.effective: line 1 is "all", expected a counter
file
  Cannot use a cgroup's file ${CONTAINER}/cpu.max: Cannot parse cpu.max: line 1 is "", expected a counter
`,
  );
});

const NOW = 100_000;

type Row<Change> = readonly [code: string, change: Change, sentence: string];
const HIGHEST = { since: NOW - 12_500, highest: 100 };

/** A container with readings for a minute and a limit of 200m. */
const WAITING: readonly Row<Partial<Omit<DelayedLimit, "memory"> & PaceMemory>>[] = [
  ["at the share", {}, ""],
  ["raise, hysteresis", { share: 230 }, "raise to 230m is within the hysteresis of 20 %"],
  [
    "raise of a rationed container, 20 % × e^(−30 / 60)",
    { share: 220, need: 230, changedAt: NOW - 30_000 },
    "raise to 220m is within the hysteresis of 12 %",
  ],
  [
    "raise to the ceiling without throttling",
    { share: 800, limit: 750 },
    "raise to 800m is within the hysteresis of 20 %",
  ],
  ["gap", { share: 800, raisedAt: NOW - 300 }, "raise to 800m waits 1 s after the last"],
  ["other limits", { share: 800 }, "raise to 800m waits until other limits are lowered"],
  [
    "free CPU",
    { share: 800, throttledMsPerS: 100, limit: 750, changedAt: NOW },
    "raise to 800m waits until free CPU suffices",
  ],
  [
    "other limits, for the ceiling, after a rest",
    { share: 800, throttledMsPerS: 100, limit: 750, changedAt: NOW - 120_000 },
    "raise to 800m waits until other limits are lowered",
  ],
  ["decrease", { share: 190 }, "decrease to 190m is within the hysteresis of 10 %"],
  ["decrease, time", { share: 50 }, "decrease to 50m waits 30 s"],
  ["decrease, time left", { share: 50, lower: HIGHEST }, "decrease to 100m waits 18 s"],
  [
    "decrease after a trial",
    { share: 50, lower: { ...HIGHEST, since: NOW - 500 }, trialFrom: 100 },
    "decrease to 100m waits 2 s",
  ],
  [
    "decrease, young readings",
    { share: 50, since: NOW - 1000, lower: { ...HIGHEST, since: NOW - 29_000 } },
    "decrease to 100m waits 9 s: the readings are young",
  ],
];

pure(
  "sentences on limits that wait",
  () =>
    assertSentences(WAITING.map(([code, change, expected]) => {
      const { share = 200, need = share, throttledMsPerS = 0, ...memory } = change;
      const past = { ...newPaceMemory(200, NOW - 60_000), ...memory };
      const container = { share, need, ceiling: 800, throttledMsPerS, memory: past };
      const sentence = () => whyWaiting(container, { now: NOW, options: PLAIN_PACE }) ?? "";
      return [code, sentence, expected];
    })),
);

const BUSY = { usage400ms: 700, usage1s: 700, usage1500ms: 700 };

/** A container at its ceiling of 800m on a scarce node, with a share of 450m. */
const STAYING: readonly Row<
  & Partial<Omit<StayingLimit, "memory" | "cleared"> & StayingLimit["memory"]>
  & { readonly state?: NodeState; readonly part?: number; readonly partOfUsed?: number }
>[] = [
  ["ample, at the ceiling", { state: "ample" }, ""],
  ["ample, below it", { state: "ample", limit: 450 }, "ceiling waits: 10 limits a second"],
  ["no readings", { load: undefined }, ""],
  ["not rationed", {}, "stays at the ceiling: the share covers the bid"],
  ["not rationed, share at the ceiling", { share: 800 }, ""],
  ["rationed lately", { limit: 450, rationedAt: NOW - 6500 }, "back to the ceiling in 4 s"],
  [
    "rationed long ago",
    { limit: 450, rationedAt: NOW - 10_000 },
    "ceiling waits: 10 limits a second",
  ],
  ["at the share", { rationedAt: NOW, limit: 450 }, ""],
  [
    "the share has just grown",
    { rationedAt: NOW, limit: 400, raiseSince: NOW - 400 },
    "raise to 450m waits 2 s: to see whether the share stays that high",
  ],
  [
    "the share grows for one that gets all it wants",
    { limit: 400, rationedAt: NOW - 2000, raiseSince: NOW - 400 },
    "raise to 450m waits 2 s: to see whether the share stays that high",
  ],
  [
    "used more before others came",
    { load: { ...BUSY, usage400ms: 400 }, rationedAt: NOW },
    "stays: the container uses its share at most",
  ],
  [
    "close to the share",
    { rationedAt: NOW, limit: 440 },
    "raise to 450m is within the hysteresis of 5 %",
  ],
  [
    "close above the share",
    { rationedAt: NOW, limit: 460 },
    "decrease to 450m is within the hysteresis of 5 %",
  ],
  [
    "uses less than its share",
    { load: { ...BUSY, usage1s: 400 }, rationedAt: NOW },
    "stays: the container uses its share at most",
  ],
  [
    "lowered a moment ago",
    { rationedAt: NOW, fundedAt: NOW - 1500 },
    "decrease to 450m waits 4 s after the last",
  ],
  [
    "short a moment ago",
    { rationedAt: NOW, shortAt: NOW - 1500 },
    "decrease to 450m waits 4 s: the container catches up on CPU that it lacked",
  ],
  [
    "without a victim",
    { rationedAt: NOW },
    "decrease to 450m waits until another container gets less than its part",
  ],
  [
    "a part above the share",
    { rationedAt: NOW, part: 520 },
    "decrease to 520m waits until another container gets less than its part",
  ],
  [
    "a part above the original limit",
    { rationedAt: NOW, part: 700 },
    "decrease to 600m waits until another container gets less than its part",
  ],
  ["at a part above the share", { rationedAt: NOW, part: 520, limit: 520 }, ""],
  [
    "uses less than a part above the share",
    { rationedAt: NOW, part: 680, originalLimit: 700 },
    "stays: the container uses at most the 680m that it is due",
  ],
  [
    "uses no more than its part of what is used",
    { rationedAt: NOW, partOfUsed: 670.4 },
    "stays: the container uses at most the 670m that it is due",
  ],
];

pure(
  "sentences of whyLimitStays()",
  () =>
    assertSentences(STAYING.map(([code, change, expected]) => {
      const { state = "scarce", share = 450, part = 0, partOfUsed = 0, ...rest } = {
        load: BUSY,
        ...change,
      };
      const { originalLimit = 600, load, ...memory } = rest;
      const past = { limit: 800, fundedAt: -Infinity, ...memory };
      const cleared = { bid: 800, wanted: 800, share, part, partOfUsed, waiting: 0, short: false };
      const bounds = { floor: 100, ceiling: 800, originalLimit };
      const container = { ...bounds, share, load, cleared, memory: past };
      const context = { now: NOW, state, pace: DEFAULT_PACE };
      return [code, () => whyLimitStays(container, context) ?? "", expected];
    })),
);
