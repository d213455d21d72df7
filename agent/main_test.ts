import assert from "node:assert/strict";
import { systemClock } from "../adapters/system_clock.ts";
import type { Clock } from "../shared/clock.ts";
import { effectiveSettings } from "../shared/config/load.ts";
import { WAIT_TARGET_MS } from "../shared/demand/common_wait.ts";
import { DEFAULT_PACE } from "../shared/pacing/paced_container.ts";
import { assertMatches } from "../tests/fixtures/assert_matches.ts";
import { runProgram } from "./main.ts";
import { AGENT_SETTINGS, type AgentSettings, paceOptions } from "./settings.ts";

const UID = "0a4f7c1e-5d0b-4f6e-9a51-1c0f6a7b8d01";
const POD = `kubepods/burstable/pod${UID}`;
const ID = "ab".repeat(32);

const CONTAINER = `cpu/${POD}/${ID}`;

/** What a run wrote, and its exit code. */
interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Version 1 files in a temporary directory; the container works while the program sleeps. */
class Folder implements Disposable {
  readonly root = Deno.makeTempDirSync({ prefix: "agent-main-" });
  /** Files of which the text stays. */
  readonly fixed = new Map<string, string>();
  /** What a sleep of the program throws. */
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

  /** With `--once` on these files. */
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

Deno.test("runProgram() ends with 1 and what it tried where there are no pods", async () => {
  const root = await Deno.makeTempDir({ prefix: "agent-main-" });
  using folder = new Folder();
  const { code, out, err } = await folder.run("--once", "--cgroup-root", root);
  await Deno.remove(root);
  assert.deepEqual([code, out], [1, ""]);
  assert.match(err, / cgroups of pods: .*Tried .*\n$/);
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

Deno.test({
  name: "paceOptions() gives the market's own numbers by default, and follows the settings",
  permissions: { env: ["LOG_TOKENS", "LOG_STREAM"] },
  fn() {
    const valuesOf = (text: string): AgentSettings => {
      const read = effectiveSettings(AGENT_SETTINGS, { file: { path: "f", text } });
      assert.ok("values" in read, "faults" in read ? read.faults.join() : "");
      return read.values;
    };
    const usual = valuesOf("");
    assert.deepEqual(paceOptions(usual), DEFAULT_PACE);
    assert.deepEqual([usual.waitTarget, usual.usageMean], [WAIT_TARGET_MS, 15_000]);
    const changed = valuesOf(
      "agent: {warmUp: 1m, decreaseHysteresis: 0.2, decreaseWait: 40s, raiseHysteresis: 0.02, " +
        "raiseGap: 2s, shareGap: 3s, shareHysteresis: 0.3, releaseAfter: 4s}",
    );
    assert.deepEqual(paceOptions(changed), {
      ...DEFAULT_PACE,
      ...{ warmUpMs: 60_000, lowerHysteresis: 0.2, lowerWaitMs: 40_000, raiseHysteresis: 0.02 },
      ...{ raiseGapMs: 2000, fundingGapMs: 3000, shareHysteresis: 0.3, releaseAfterMs: 4000 },
    });
  },
});
