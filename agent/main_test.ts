import assert from "node:assert/strict";
import { systemClock } from "../adapters/system_clock.ts";
import type { Clock } from "../shared/clock.ts";
import { type ProgramInput, runProgram } from "./main.ts";

const UID = "0a4f7c1e-5d0b-4f6e-9a51-1c0f6a7b8d01";
const POD = `kubepods/burstable/pod${UID}`;
const ID = "ab".repeat(32);
const LAYOUT = /^cgroup v1, .*cgroupfs .* kubepods$/;

/**
 * Version 1 files in a temporary directory, and a clock; the container works while the program sleeps.
 */
async function inFolder(
  fn: (root: string, run: (args: string[]) => Promise<Outcome>) => Promise<void>,
  { afterShow = () => {} }: { readonly afterShow?: (root: string) => void } = {},
): Promise<void> {
  const root = await Deno.makeTempDir({ prefix: "agent-main-" });
  let now = 0;
  const write = (file: string, text: string) => {
    Deno.mkdirSync(`${root}/${file}`.replace(/\/[^/]*$/, ""), { recursive: true });
    Deno.writeTextFileSync(`${root}/${file}`, text);
  };
  const show = () => {
    write("cpuset/cpuset.effective_cpus", "0-3\n");
    for (const directory of [POD, `${POD}/${ID}`]) {
      const counters = `nr_periods ${Math.floor(now / 100)}\nnr_throttled 1\nthrottled_time 7\n`;
      write(`cpu/${directory}/cpu.stat`, counters);
      write(`cpu/${directory}/cpu.cfs_quota_us`, "20000\n");
      write(`cpu/${directory}/cpu.cfs_period_us`, "100000\n");
      write(`cpu/${directory}/cpu.shares`, "512\n");
      write(`cpuacct/${directory}/cpuacct.usage`, `${now * 150_000}\n`);
    }
    afterShow(root);
  };
  const clock: Clock = {
    ...systemClock,
    monotonic: () => now,
    sleep: (ms) => {
      now += ms;
      show();
      return Promise.resolve();
    },
  };
  try {
    show();
    await fn(root, async (args) => {
      const outcome = { code: NaN, out: "", err: "" };
      const out = (text: string) => outcome.out += text;
      const err = (text: string) => outcome.err += text;
      outcome.code = await runProgram(args, { ...WORLD, out, err, clock });
      return outcome;
    });
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

const WORLD: ProgramInput = {
  out: () => {},
  err: () => {},
  env: {},
  clock: systemClock,
  signal: new AbortController().signal,
  connect: () => Promise.reject(new TypeError("no connection")),
};

interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

Deno.test("runProgram() prints what it saw as JSON", () =>
  inFolder(async (root, run) => {
    const args = ["--once", "--cgroup-root", root, "--json", "--interval", "500ms"];
    const { code, out, err } = await run(args);
    assert.deepEqual([code, err], [0, ""]);
    const { layout, ...view } = JSON.parse(out);
    assert.match(layout, LAYOUT);
    assert.deepEqual(view, {
      cores: 4,
      intervalMs: 500,
      pods: [{
        uid: UID,
        request: 500,
        containers: [{
          id: ID,
          quota: 200,
          usage: 150,
          throttled: 0,
          periods: 5,
          throttledPeriods: 0,
        }],
      }],
      warnings: [],
    });
  }));

Deno.test("runProgram() prints a table for people", () =>
  inFolder(async (root, run) => {
    const { code, out } = await run(["--once", "--cgroup-root", root]);
    assert.equal(code, 0);
    const [layout = "", counts = "", ...lines] = out.split("\n");
    assert.match(layout, LAYOUT);
    assert.match(counts, /^1 pods, 1 containers, 4 CPUs, 250 ms /);
    assert.deepEqual(lines, [
      "",
      "POD                                   CONTAINER     USAGE  THROTTLED  QUOTA  REQUEST  PERIODS  WAITING",
      `${UID}  abababababab   150m         0m   200m     500m      0/2        -`,
      "",
    ]);
  }));

Deno.test("runProgram() ends with 1 and what it tried where there are no pods", () =>
  inFolder(async (root, run) => {
    await Deno.remove(`${root}/cpu`, { recursive: true });
    const { code, out, err } = await run(["--once", "--cgroup-root", root]);
    assert.deepEqual([code, out], [1, ""]);
    assert.match(err, / cgroups of pods: .*Tried .*\n$/);
  }));

Deno.test("runProgram() warns of a file that it cannot use, and shows the rest", () => {
  const afterShow = (root: string) => {
    Deno.writeTextFileSync(`${root}/cpu/${POD}/${ID}/cpu.stat`, "nr_periods lots\n");
    Deno.writeTextFileSync(`${root}/cpuset/cpuset.effective_cpus`, "all\n");
  };
  return inFolder(async (root, run) => {
    const { code, out, err } = await run(["--", "--once", "--cgroup-root", root, "--json"]);
    assert.equal(code, 0);
    const { warnings, pods } = JSON.parse(out);
    assert.equal(warnings.length, 2);
    assert.match(warnings[0], / CPUs: Cannot parse .*effective_cpus: /);
    const [, second] = warnings;
    assert.ok(second.includes(` cpu/${POD}/${ID}/cpu.stat: `), second);
    assert.match(second, /cpu\.stat: line 1 is "lots", /);
    assert.equal(err, `${warnings.join("\n")}\n`);
    assert.deepEqual(pods, [{ uid: UID, request: 500, containers: [{ id: ID, quota: 200 }] }]);
    const table = await run(["--once", "--cgroup-root", root]);
    assert.equal(table.err, err);
    assert.match(table.out, /^cgroup v1/);
  }, { afterShow });
});

Deno.test("runProgram() ends with 1 where the system refuses, and rejects for a fault of its own", () =>
  inFolder(async (root) => {
    const runWith = async (error: unknown) => {
      let err = "";
      const clock: Clock = { ...systemClock, sleep: () => Promise.reject(error) };
      const world = { ...WORLD, err: (text: string) => err += text, clock };
      return [await runProgram(["--once", "--cgroup-root", root], world), err];
    };
    const inputOutput = Object.assign(new Error("Input/output error"), { code: "EIO" });
    for (
      const error of [
        new Deno.errors.NotFound("gone"),
        new Deno.errors.NotCapable("not allowed"),
        new Deno.errors.PermissionDenied("denied"),
        inputOutput,
      ]
    ) assert.deepEqual(await runWith(error), [1, `${error.message}\n`]);
    const nodeStyle = Object.assign(new TypeError("bad"), { code: "ERR_INVALID_ARG_TYPE" });
    const faults = [new TypeError("x is not a function"), new RangeError("x"), new Error("x")];
    for (const fault of [...faults, nodeStyle]) {
      await assert.rejects(runWith(fault), (rejected) => rejected === fault);
    }
  }));

Deno.test("runProgram() ends with 2 for a wrong command line and 0 for help", () =>
  inFolder(async (_root, run) => {
    const wrong = await run(["--interval", "soon"]);
    assert.deepEqual([wrong.code, wrong.out], [2, ""]);
    assert.match(
      wrong.err,
      / agent: flag --interval is "soon", .* duration .*\n$/,
    );
    const nameless = await run([]);
    assert.deepEqual([nameless.code, nameless.out], [2, ""]);
    assert.match(nameless.err, /--node-name or env NODE_NAME is not set/);
    const help = await run(["--help"]);
    assert.deepEqual([help.code, help.err], [0, ""]);
    assert.match(help.out, /--cgroup-root/);
  }));
