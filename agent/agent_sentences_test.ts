import { pure } from "../tests/fixtures/pure.ts";
import { type LogFields, silentLog } from "../shared/log.ts";
import type { PaceMemory } from "../shared/market/market_container.ts";
import type { DelayedLimit } from "../shared/pacing/limit_moves.ts";
import { DEFAULT_PACE, newPaceMemory } from "../shared/pacing/paced_container.ts";
import { assertLines } from "../tests/fixtures/assert_sentences.ts";
import { createMemoryTree } from "../tests/fixtures/memory_tree.ts";
import {
  boundedAllocation,
  PLAIN_PACE,
  sampleBounds,
} from "../tests/fixtures/market/sample_participants.ts";
import { createLatestRound } from "./reporting/node_view.ts";
import { nodeTable, sampleOnce } from "./sampling/sample_once.ts";
import { createParticipantIndex } from "./market/participants.ts";
import { type StayingLimit, whyLimitStays, whyWaiting } from "./reporting/why_waiting.ts";
import type { NodeState } from "../shared/scarcity/node_state.ts";

function refusal(change: Partial<ReturnType<typeof sampleBounds>>): string {
  const bounds = { revision: 1, reason: "", containers: [sampleBounds("web", change)] };
  const allocation = boundedAllocation("web", { status: { bounds } });
  let warned = "";
  const warn = (_message: string, fields: LogFields = {}) => void (warned = `${fields.reason}`);
  createParticipantIndex({ ...silentLog, warn })([boundedAllocation("a"), allocation]);
  return warned;
}

pure("sentences of allocations that are left out", () =>
  assertLines(
    {
      "floor and ceiling": () => refusal({ floor: 300, ceiling: 200 }),
      "ceiling": () => refusal({ ceiling: 1e10 }),
      "weight": () => refusal({ weight: 1e-7 }),
      "clash": () => refusal({ containerID: "containerd://61" }),
    },
    `\
floor and ceiling: container app: floor 300 is above ceiling 200
ceiling: container app: ceiling is 10000000000, expected at most 1000000000 millicores
weight: container app: weight is 1e-7, expected a number from 0.000001 to 1000000000
clash: another one has one of its containers
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

const CONTAINER = `kubepods/pod0a4f7c1e-5d0b-4f6e-9a51-1c0f6a7b8d01/${"a".repeat(64)}`;

async function warningsOf(files: Readonly<Record<string, string>>): Promise<string> {
  const clock = { wall: () => 0, monotonic: () => 0, sleep: () => Promise.resolve() };
  const parts = { tree: createMemoryTree(files), clock, fallbackCores: 3 };
  return (await sampleOnce(parts, { intervalMs: 250 })).warnings.join();
}

pure("sentences of probes, logs and the node's table", () => {
  const view = { layout: "cgroup v2", cores: 4, intervalMs: 250.4, pods: [], warnings: [] };
  return assertLines(
    {
      "stuck": () => probe(30_001, true),
      "not in sync": () => probe(0, false),
      "no node": () => probe(0, true),
      "table": () => nodeTable(view).split("\n")[1] ?? "",
      "CPUs": () => warningsOf({ "kubepods/cpu.stat": "", "cpuset.cpus.effective": "all\n" }),
      "file": () => warningsOf({ [`${CONTAINER}/cpu.max`]: "much\n" }),
    },
    `\
stuck: the loop has stood still for 30s
not in sync: the allocations of the node are not in sync with the API
no node: the node is not known yet
table: 0 pods, 0 containers, 4 CPUs, 250 ms between the samples
CPUs: Cannot count the node's CPUs: Cannot parse cpuset.cpus.effective: line 1 is "all", expected a counter
file: Cannot use a cgroup's file ${CONTAINER}/cpu.max: Cannot parse cpu.max: line 1 is "", expected a counter
`,
  );
});

const NOW = 100_000;
const HIGHEST = { since: NOW - 12_500, highest: 100 };

type Waiting = Partial<Omit<DelayedLimit, "memory"> & PaceMemory>;

/** Why the limit of a container with readings for a minute and a limit of 200m waits. */
const waits = (change: Waiting) => (): string => {
  const { share = 200, need = share, throttledMsPerS = 0, ...memory } = change;
  const past = { ...newPaceMemory(200, NOW - 60_000), ...memory };
  const container = { share, need, ceiling: 800, throttledMsPerS, memory: past };
  return whyWaiting(container, { now: NOW, options: PLAIN_PACE }) ?? "-";
};

pure("sentences on limits that wait", () => {
  const toCeiling = { share: 800, limit: 750 };
  const throttled = { ...toCeiling, throttledMsPerS: 100 };
  const young = { since: NOW - 1000, lower: { ...HIGHEST, since: NOW - 29_000 } };
  const trial = { lower: { ...HIGHEST, since: NOW - 500 }, trialFrom: 100 };
  return assertLines(
    {
      "at the share": waits({}),
      "raise, hysteresis": waits({ share: 230 }),
      // 20 % × e^(−30 / 60)
      "raise, rationed": waits({ share: 220, need: 230, changedAt: NOW - 30_000 }),
      "raise to the ceiling without throttling": waits(toCeiling),
      "gap": waits({ share: 800, raisedAt: NOW - 300 }),
      "other limits": waits({ share: 800 }),
      "free CPU": waits({ ...throttled, changedAt: NOW }),
      "other limits, for the ceiling": waits({ ...throttled, changedAt: NOW - 120_000 }),
      "decrease": waits({ share: 190 }),
      "decrease, time": waits({ share: 50 }),
      "decrease, time left": waits({ share: 50, lower: HIGHEST }),
      "decrease after a trial": waits({ share: 50, ...trial }),
      "decrease, young readings": waits({ share: 50, ...young }),
    },
    `\
at the share: -
raise, hysteresis: raise to 230m is within the hysteresis of 20 %
raise, rationed: raise to 220m is within the hysteresis of 12 %
raise to the ceiling without throttling: raise to 800m is within the hysteresis of 20 %
gap: raise to 800m waits 1 s after the last
other limits: raise to 800m waits until other limits are lowered
free CPU: raise to 800m waits until free CPU suffices
other limits, for the ceiling: raise to 800m waits until other limits are lowered
decrease: decrease to 190m is within the hysteresis of 10 %
decrease, time: decrease to 50m waits 30 s
decrease, time left: decrease to 100m waits 18 s
decrease after a trial: decrease to 100m waits 2 s
decrease, young readings: decrease to 100m waits 9 s: the readings are young
`,
  );
});

const BUSY = { usage400ms: 700, usage1s: 700, usage1500ms: 700 };

type Staying = Partial<Omit<StayingLimit, "memory" | "cleared"> & StayingLimit["memory"]> & {
  readonly state?: NodeState;
  readonly part?: number;
  readonly partOfUsed?: number;
};

/** Why the limit of a container at its ceiling of 800m on a scarce node stays, at a share of 450m. */
const stays = (change: Staying) => (): string => {
  const { state = "scarce", share = 450, part = 0, partOfUsed = 0, ...rest } = {
    load: BUSY,
    ...change,
  };
  const { originalLimit = 600, load, ...memory } = rest;
  const past = { limit: 800, fundedAt: -Infinity, ...memory };
  const cleared = { bid: 800, wanted: 800, share, part, partOfUsed, waiting: 0, short: false };
  const bounds = { floor: 100, ceiling: 800, originalLimit };
  const container = { ...bounds, share, load, cleared, memory: past };
  return whyLimitStays(container, { now: NOW, state, pace: DEFAULT_PACE }) ?? "-";
};

/** As `stays`, of a container that is rationed. */
const rationed = (change: Staying = {}) => stays({ rationedAt: NOW, ...change });

pure("sentences on limits that stay", () =>
  assertLines(
    {
      "ample, at the ceiling": stays({ state: "ample" }),
      "ample, below it": stays({ state: "ample", limit: 450 }),
      "no readings": stays({ load: undefined }),
      "not rationed": stays({}),
      "not rationed, share at the ceiling": stays({ share: 800 }),
      "rationed lately": stays({ limit: 450, rationedAt: NOW - 6500 }),
      "rationed long ago": stays({ limit: 450, rationedAt: NOW - 10_000 }),
      "at the share": rationed({ limit: 450 }),
      "the share has just grown": rationed({ limit: 400, raiseSince: NOW - 400 }),
      "so it has for one that gets all it wants": stays({
        ...{ limit: 400, rationedAt: NOW - 2000, raiseSince: NOW - 400 },
      }),
      "used more before others came": rationed({ load: { ...BUSY, usage400ms: 400 } }),
      "close to the share": rationed({ limit: 440 }),
      "close above the share": rationed({ limit: 460 }),
      "uses less than its share": rationed({ load: { ...BUSY, usage1s: 400 } }),
      "lowered a moment ago": rationed({ fundedAt: NOW - 1500 }),
      "short a moment ago": rationed({ shortAt: NOW - 1500 }),
      "without a victim": rationed(),
      "a part above the share": rationed({ part: 520 }),
      "a part above the original limit": rationed({ part: 700 }),
      "at a part above the share": rationed({ part: 520, limit: 520 }),
      "uses less than its part": rationed({ part: 680, originalLimit: 700 }),
      "uses no more than its part of what is used": rationed({ partOfUsed: 670.4 }),
    },
    `\
ample, at the ceiling: -
ample, below it: ceiling waits: 10 limits a second
no readings: -
not rationed: stays at the ceiling: the share covers the bid
not rationed, share at the ceiling: -
rationed lately: back to the ceiling in 4 s
rationed long ago: ceiling waits: 10 limits a second
at the share: -
the share has just grown: raise to 450m waits 2 s: to see whether the share stays that high
so it has for one that gets all it wants: raise to 450m waits 2 s: to see whether the share stays that high
used more before others came: stays: the container uses its share at most
close to the share: raise to 450m is within the hysteresis of 5 %
close above the share: decrease to 450m is within the hysteresis of 5 %
uses less than its share: stays: the container uses its share at most
lowered a moment ago: decrease to 450m waits 4 s after the last
short a moment ago: decrease to 450m waits 4 s: the container catches up on CPU that it lacked
without a victim: decrease to 450m waits until another container gets less than its part
a part above the share: decrease to 520m waits until another container gets less than its part
a part above the original limit: decrease to 600m waits until another container gets less than its part
at a part above the share: -
uses less than its part: stays: the container uses at most the 680m that it is due
uses no more than its part of what is used: stays: the container uses at most the 670m that it is due
`,
  ));
