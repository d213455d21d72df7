import assert from "node:assert/strict";
import { Registry } from "prom-client";
import { systemClock } from "../adapters/system_clock.ts";
import type { Clock } from "../shared/clock.ts";
import { effectiveSettings } from "../shared/config/load.ts";
import { WAIT_TARGET_MS } from "../shared/demand/demand_rule.ts";
import { DEFAULT_PACE } from "../shared/pacing/paced_container.ts";
import type { NodeView, PodView } from "../shared/view/node_view.ts";
import { assertMatches } from "../tests/fixtures/assert_matches.ts";
import { sampleNodeView, samplePodView } from "../tests/fixtures/cli/node_views.ts";
import { boundedAllocation, sampleBounds } from "../tests/fixtures/market/sample_participants.ts";
import { pure, pureYAML } from "../tests/fixtures/pure.ts";
import { runProgram } from "./main.ts";
import { type Participant, participantsOf } from "./market/participants.ts";
import type { ContainerResult } from "./market/round.ts";
import { createAgentMetrics } from "./reporting/metrics.ts";
import { AGENT_SETTINGS, type AgentSettings, loopSettings, paceOptions } from "./settings.ts";

const UID = "0a4f7c1e-5d0b-4f6e-9a51-1c0f6a7b8d01";
const POD = `kubepods/burstable/pod${UID}`;
const ID = "ab".repeat(32);

const CONTAINER = `cpu/${POD}/${ID}`;

interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Version 1 files in a temporary directory; the container works while the program sleeps. */
class Folder implements Disposable {
  readonly root = Deno.makeTempDirSync({ prefix: "agent-main-" });
  readonly fixed = new Map<string, string>();
  failure: unknown;
  #nowMs = 0;

  async run(...args: readonly string[]): Promise<Outcome> {
    this.#show();
    const outcome = { code: NaN, out: "", err: "" };
    const clock: Clock = {
      ...systemClock,
      monotonic: () => this.#nowMs,
      sleep: (ms) => {
        if (this.failure !== undefined) return Promise.reject(this.failure);
        this.#nowMs += ms;
        this.#show();
        return Promise.resolve();
      },
    };
    outcome.code = await runProgram(args, {
      ...{ env: {}, clock, signal: new AbortController().signal },
      out: (text) => outcome.out += text,
      err: (text) => outcome.err += text,
      connect: () => Promise.reject(new TypeError("no connection")),
    });
    return outcome;
  }

  once(...args: readonly string[]): Promise<Outcome> {
    return this.run("--once", "--cgroup-root", this.root, ...args);
  }

  #show(): void {
    const now = this.#nowMs;
    const files = new Map([["cpuset/cpuset.effective_cpus", "0-3\n"]]);
    for (const directory of [POD, `${POD}/${ID}`]) {
      const counters = `nr_periods ${Math.floor(now / 100)}\nnr_throttled 1\nthrottled_time 7\n`;
      files.set(`cpu/${directory}/cpu.stat`, counters);
      files.set(`cpu/${directory}/cpu.cfs_quota_us`, "20000\n");
      files.set(`cpu/${directory}/cpu.cfs_period_us`, "100000\n");
      files.set(`cpu/${directory}/cpu.shares`, "512\n");
      files.set(`cpuacct/${directory}/cpuacct.usage`, `${now * 150_000}\n`);
    }
    for (const [file, text] of [...files, ...this.fixed]) {
      Deno.mkdirSync(`${this.root}/${file}`.replace(/\/[^/]*$/, ""), { recursive: true });
      Deno.writeTextFileSync(`${this.root}/${file}`, text);
    }
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.root, { recursive: true });
  }
}

Deno.test("runProgram() prints what it saw as JSON, or as a table for people", async () => {
  using folder = new Folder();
  const { code, out, err } = await folder.once("--json", "--interval", "500ms");
  assert.deepEqual([code, err], [0, ""]);
  const { layout, pods, ...view } = JSON.parse(out);
  assert.match(layout, /^cgroup v1, .*cgroupfs .* kubepods$/);
  assert.deepEqual(view, { cores: 4, intervalMs: 500, warnings: [] });
  const rates = { usage: 150, throttled: 0, periods: 5, throttledPeriods: 0 };
  const containers = [{ id: ID, quota: 200, ...rates }];
  assert.deepEqual(pods, [{ uid: UID, request: 500, containers }]);
  const table = await folder.once();
  assert.equal(table.code, 0);
  assert.ok(table.out.startsWith(`${layout}\n1 pods, 1 containers, 4 CPUs, 250 ms `), table.out);
});

Deno.test("runProgram() warns of a file that it cannot use, and shows the rest", async () => {
  using folder = new Folder();
  folder.fixed.set(`${CONTAINER}/cpu.stat`, "nr_periods lots\n");
  folder.fixed.set("cpuset/cpuset.effective_cpus", "all\n");
  const { code, out, err } = await folder.once("--json");
  assert.equal(code, 0);
  const { warnings, pods } = JSON.parse(out);
  assertMatches(warnings, [
    / CPUs: Cannot parse .*effective_cpus: /,
    new RegExp(` ${CONTAINER}/cpu\\.stat: .*cpu\\.stat: line 1 is "lots", `),
  ]);
  assert.equal(err, `${warnings.join("\n")}\n`);
  assert.deepEqual(pods, [{ uid: UID, request: 500, containers: [{ id: ID, quota: 200 }] }]);
  assert.equal((await folder.once()).err, err);
});

Deno.test("runProgram() ends with 1 where the system refuses, and rejects for its own fault", async () => {
  using folder = new Folder();
  const { NotFound, NotCapable, PermissionDenied } = Deno.errors;
  const coded = (error: Error, code: string) => Object.assign(error, { code });
  const refusals = [new NotFound("a"), new NotCapable("b"), new PermissionDenied("c")];
  for (const error of [...refusals, coded(new Error("Input/output error"), "EIO")]) {
    folder.failure = error;
    assert.deepEqual(await folder.once(), { code: 1, out: "", err: `${error.message}\n` });
  }
  const nodeStyle = coded(new TypeError("bad"), "ERR_INVALID_ARG_TYPE");
  for (const fault of [new TypeError("x"), new RangeError("x"), new Error("x"), nodeStyle]) {
    folder.failure = fault;
    await assert.rejects(folder.once(), (rejected) => rejected === fault);
  }
});

Deno.test("runProgram() ends with 2 for a wrong command line and 0 for help", async () => {
  using folder = new Folder();
  const wrong = await folder.run("--interval", "soon");
  assert.deepEqual([wrong.code, wrong.out], [2, ""]);
  assert.match(wrong.err, / agent: flag --interval is "soon", .* duration .*\n$/);
  const nameless = await folder.run();
  assert.deepEqual([nameless.code, nameless.out], [2, ""]);
  assert.match(nameless.err, /--node-name or env NODE_NAME is not set/);
  const help = await folder.run("--help");
  assert.deepEqual([help.code, help.err], [0, ""]);
  assert.match(help.out, /--cgroup-root/);
});

function valuesOf(text: string): AgentSettings {
  const read = effectiveSettings(AGENT_SETTINGS, { file: { path: "f", text } });
  assert.ok("values" in read, "faults" in read ? read.faults.join() : "");
  return read.values;
}

pureYAML("paceOptions() gives the market's own numbers, and follows the settings", () => {
  const usual = valuesOf("");
  assert.deepEqual(paceOptions(usual), DEFAULT_PACE);
  const changed = valuesOf(
    "agent: {warmUp: 1m, decreaseHysteresis: 0.2, decreaseWait: 40s, raiseHysteresis: 0.02, " +
      "raiseGap: 2s, shareGap: 3s, shareHysteresis: 0.3, releaseAfter: 4s}",
  );
  assert.deepEqual(paceOptions(changed), {
    ...DEFAULT_PACE,
    ...{ warmUpMs: 60_000, lowerHysteresis: 0.2, lowerWaitMs: 40_000, raiseHysteresis: 0.02 },
    ...{ raiseGapMs: 2000, fundingGapMs: 3000, shareHysteresis: 0.3, releaseAfterMs: 4000 },
  });
});

pureYAML("loopSettings() gives the loop what users set, and their demand rule", () => {
  const loopOf = (text: string): object => {
    const { pace, newDemandRule, ...rest } = loopSettings(valuesOf(text));
    const rule = newDemandRule();
    const signal = { intervalMs: 1000, throttledMsPerS: 0, periods: 10, throttledPeriods: 0 };
    const means = [1000, 1100].map((usage) =>
      rule({ ...signal, usage, scarcity: 0, waitMs: WAIT_TARGET_MS }).mean
    );
    return { ...rest, warmUpMs: pace.warmUpMs, means };
  };
  assert.deepEqual(loopOf(""), {
    ...{ idleCPU: "free", reserve: 0.1, heartbeatMs: 60_000, waitTargetMs: WAIT_TARGET_MS },
    ...{ sampleMs: 250, busySampleMs: 100, warmUpMs: 10_000 },
    means: [1000, 1000 + 100 * (1 - Math.exp(-1 / 15))],
  });
  const changed = loopOf(
    "market: {idleCPU: tight}\nagent: {reserve: 0.2, heartbeat: 20s, waitTarget: 50ms, " +
      "usageMean: 1m, sampleInterval: 500ms, busySampleInterval: 200ms, warmUp: 1m}",
  );
  assert.deepEqual(changed, {
    ...{ idleCPU: "tight", reserve: 0.2, heartbeatMs: 20_000, waitTargetMs: 50 },
    ...{ sampleMs: 500, busySampleMs: 200, warmUpMs: 60_000 },
    means: [1000, 1000 + 100 * (1 - Math.exp(-1 / 60))],
  });
});

function stage() {
  const registry = new Registry();
  const now: { view?: NodeView } = {};
  const metrics = createAgentMetrics({ registry, view: () => now.view });
  return {
    registry,
    metrics,
    show: (...pods: PodView[]) => void (now.view = sampleNodeView(pods)),
    hold: (held: Pick<NodeView, "held">) => void (now.view = { ...sampleNodeView([]), ...held }),
    scraped: async (name: string): Promise<string[]> =>
      (await registry.metrics()).split("\n").filter((line) => line.startsWith(name)),
  };
}

function pod(name: string, change: Partial<PodView> = {}): PodView {
  return { ...samplePodView(name), ...change };
}

const SCARCE = { state: "scarce", since: 0 } as const;
const AMPLE = { state: "ample", since: 3000 } as const;

/** A container after a round in which it was throttled for so long in all, ms. */
function decided(
  participant: Participant | undefined,
  { throttledMs = 0, ...change }: Partial<ContainerResult> & { throttledMs?: number },
): ContainerResult {
  const container = { participant, state: { throttledMs }, from: 800, limit: 800, ...change };
  return container as ContainerResult;
}

const containers = [sampleBounds("a"), sampleBounds("b", { name: "side" })];
const bounds = { revision: 1, reason: "", containers };
const [APP, SIDE] = participantsOf(boundedAllocation("a", { status: { bounds } }));
const [OTHER] = participantsOf(boundedAllocation("c"));

pure("createAgentMetrics() shows that limits are held, and why, while they are", async () => {
  const { hold, scraped } = stage();
  const shown = 'mbcas_node_limits_held{reason="SchedExt"} 1';
  for (const [view, expected] of [[{ held: "SchedExt" }, [shown]], [{}, []]] as const) {
    hold(view);
    assert.deepEqual(await scraped("mbcas_node_limits_held"), expected);
  }
});

pure("createAgentMetrics() shows each pod of the latest view that has a value", async () => {
  const { show, scraped, registry } = stage();
  const limits = async (): Promise<readonly string[]> =>
    (await scraped("mbcas_pod_limit_cores")).map((line) => line.slice(line.indexOf("{")));
  assert.deepEqual(await scraped("mbcas_pod_"), []);
  show(pod("a", { limit: 100, usage: 20, originalLimit: 50 }), pod("b", { limit: Infinity }));
  const text = await registry.metrics();
  assert.match(text, /^mbcas_pod_original_limit_cores\{namespace="shop",pod="a"\} 0\.05$/m);
  assert.match(text, /^mbcas_pod_usage_cores\{namespace="shop",pod="a"\} 0\.02$/m);
  assert.match(text, /^# HELP mbcas_pod_limit_cores CPU limit .*\n# TYPE \w+ gauge$/m);
  assert.match(text, /^# TYPE mbcas_pod_throttled_seconds_total counter$/m);
  const series = (name: string, value: string) => `{namespace="shop",pod="${name}"} ${value}`;
  assert.deepEqual(await limits(), [series("a", "0.1"), series("b", "+Inf")]);
  show(pod("b", { limit: 200 }));
  assert.deepEqual(await limits(), [series("b", "0.2")]);
  // If two pods have the same name, the one with readings counts.
  const { usage: _usage, ...dead } = pod("b", { limit: 100 });
  const alive = pod("b", { uid: "another", limit: 300, usage: 5 });
  for (const pods of [[dead, alive], [alive, dead]]) {
    show(...pods);
    assert.deepEqual(await limits(), [series("b", "0.3")]);
  }
});

pure("mbcas_pod_unenforced_limits counts a pod's containers without a quota", async () => {
  const { show, scraped } = stage();
  const containers = pod("web").containers.map((one) => ({ ...one, quotaOff: true as const }));
  show(pod("web", { containers: [...containers, ...pod("db").containers] }), pod("db"));
  assert.deepEqual(await scraped("mbcas_pod_unenforced_limits"), [
    'mbcas_pod_unenforced_limits{namespace="shop",pod="web"} 1',
  ]);
});

pure("createAgentMetrics() counts scarce time and the limits that changed for it", async () => {
  const { metrics, scraped } = stage();
  const lowered = decided(APP, { limit: 450, changedFor: "NodeCongested" });
  const released = decided(APP, { from: 450, changedFor: "CPUFree" });
  const fallen = decided(APP, { limit: 450, changedFor: "CeilingFell" });
  const rounds = [[1000, SCARCE, lowered, lowered], [1500, SCARCE]] as const;
  for (const [now, nodeState, ...containers] of rounds) {
    metrics.cleared({ now, nodeState, containers }, 1);
  }
  metrics.cleared({ now: 3000, nodeState: AMPLE, containers: [released] }, 1);
  metrics.cleared({ now: 9000, nodeState: AMPLE, containers: [fallen] }, 1);
  assert.deepEqual([...await scraped("mbcas_node_scarce_s"), ...await scraped("mbcas_limits")], [
    "mbcas_node_scarce_seconds_total 2",
    "mbcas_limits_to_ceiling_total 1",
    "mbcas_limits_lowered_total 2",
  ]);
});

type Rounds = readonly (readonly (readonly [Participant | undefined, number])[])[];

/** Seconds throttled of pods `a` and `c` after rounds with these containers. */
async function throttled(...rounds: Rounds): Promise<readonly (string | undefined)[]> {
  const { metrics, scraped, show } = stage();
  for (const round of rounds) {
    const containers = round.map(([one, throttledMs]) => decided(one, { throttledMs }));
    metrics.cleared({ now: 0, nodeState: AMPLE, containers }, 1);
  }
  show(pod("a", { uid: "a" }), pod("c", { uid: "c" }));
  return (await scraped("mbcas_pod_throttled_seconds_total")).map((line) => line.split(" ")[1]);
}

const REBORN = SIDE === undefined ? undefined : { ...SIDE, containerID: "another" };

/** Rounds with their containers' throttled ms, and the seconds of pods `a` and `c` after them. */
const THROTTLED: readonly (readonly [string, Rounds, readonly string[]])[] = [
  // Ten samples of 100 ms since the second round.
  ["all that was read, once", [[[APP, 100]], [[APP, 100]], [[APP, 1100]]], ["1.1", "0"]],
  [
    "a pod's containers, one restarted",
    [[[APP, 1000], [SIDE, 500]], [[APP, 1000], [REBORN, 200]]],
    ["1.7", "0"],
  ],
  ["a state that begins anew", [[[APP, 1000]], [[APP, 0]], [[APP, 300]]], ["1.3", "0"]],
  ["a pod that was gone, from 0", [[[APP, 1000], [OTHER, 20]], [[OTHER, 20]]], ["0", "0.02"]],
];

for (const [what, rounds, expected] of THROTTLED) {
  pure(`mbcas_pod_throttled_seconds_total counts ${what}`, async () => {
    assert.deepEqual(await throttled(...rounds), expected);
  });
}
