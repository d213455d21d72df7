import fc from "fast-check";
import assert from "node:assert/strict";
import type { Goal } from "../arena/goals.ts";
import { algorithmNames, ENTRIES } from "../arena/outcome.ts";
import { TRACE_FORMATS } from "../simulation/trace.ts";
import { taskInMemory, withFile } from "../../tests/fixtures/lab/task_world.ts";
import { outcome, stageResult } from "../../tests/fixtures/lab/arena_outcomes.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { arena } from "../arena/main.ts";
import { parseArenaOptions } from "../arena/arena_options.ts";
import { goalTable, stageTable } from "../arena/arena_table.ts";
import { demo } from "../demo/main.ts";
import { parseDemoOptions } from "../demo/demo_scene.ts";
import {
  probeFile,
  reportProblem,
  runTask,
  type TaskFlags,
  type TaskWorld,
  traceProblem,
} from "./task.ts";

const { IsADirectory, NotADirectory, NotFound } = Deno.errors;
const WANTED = { kind: "flags", flags: { report: "x/y" } } as const;

/** Exit code, output and errors of a task that prints "played"; and its page. */
async function ran(
  read: Parameters<typeof runTask<TaskFlags>>[0],
  { change = {}, play = () => {} }: {
    readonly change?: Partial<TaskWorld>;
    readonly play?: () => void;
  } = {},
) {
  const world = taskInMemory(change);
  const code = await runTask(read, {
    world,
    play: () => {
      world.out("played ");
      play();
      return Promise.resolve({ page: () => "page", note: "noted" });
    },
  });
  const { out, err, page } = world.written;
  return [code, out, err, page];
}

pure("runTask() writes the page after the figures, and ends with a code", async () => {
  assert.deepEqual(await ran(WANTED), [0, "played noted", "", "page"]);
  const none = { kind: "flags", flags: { report: false } } as const;
  assert.deepEqual(await ran(none), [0, "played ", "", ""]);
  assert.deepEqual(await ran({ kind: "help", text: "help" }), [0, "help", "", ""]);
  const wrong = { kind: "usage-error", message: "wrong" } as const;
  assert.deepEqual(await ran(wrong), [2, "", "wrong\n", ""]);
});

pure("runTask() finds out before the work whether the page can be written", async () => {
  const lacking = new NotFound("no entity (os error 2)");
  const before = await ran(WANTED, { change: { probeFile: () => Promise.reject(lacking) } });
  assert.deepEqual(before, [1, "", `${reportProblem("x/y", lacking).message}\n`, ""]);
  const cause = new NotADirectory("Not a directory");
  const after = await ran(WANTED, { change: { writeFile: () => Promise.reject(cause) } });
  assert.deepEqual(after, [1, "played ", `${reportProblem("x/y", cause).message}\n`, ""]);
});

pure("runTask() ends with 1 for a file, and throws faults of the program on", async () => {
  const throwing = (error: Error) => () => {
    throw error;
  };
  const problem = traceProblem("f", new SyntaxError("line 2"));
  assert.deepEqual(await ran(WANTED, { play: throwing(problem) }), [1, "played ", "line 2\n", ""]);
  await assert.rejects(ran(WANTED, { play: throwing(new TypeError("a fault")) }), /a fault/);
  assert.throws(() => reportProblem("a", new TypeError("a fault")), /^TypeError: a fault$/);
  const full = new Deno.errors.WriteZero("No space left (os error 28), write 'a/b.html'");
  assert.match(reportProblem("a/b.html", full).message, /"a\/b\.html": No space left$/);
});

Deno.test("probeFile() leaves all as it was, and rejects what can't be written", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/old.html`, "kept");
    await probeFile(`${folder}/old.html`);
    await probeFile(`${folder}/new.html`);
    assert.equal(await Deno.readTextFile(`${folder}/old.html`), "kept");
    assert.deepEqual((await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name), [
      "old.html",
    ]);
    await assert.rejects(probeFile(`${folder}/missing/a.html`), NotFound);
    await assert.rejects(probeFile(folder), IsADirectory);
    await assert.rejects(probeFile(`${folder}/old.html/a.html`), NotADirectory);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

/** Flags as they were read; of help its text, of a mistake the message. */
function read(line: string): object | string {
  const [task, ...args] = line.split(" ");
  const parsed = task === "arena" ? parseArenaOptions(args) : parseDemoOptions(args);
  if (parsed.kind === "flags") return parsed.flags;
  return parsed.kind === "help" ? parsed.text : parsed.message;
}

const ARENA = {
  ...{
    algorithms: algorithmNames(),
    seeds: 5,
    giveUp: 10,
    quick: false,
    json: false,
    report: "arena.html",
  },
};
const DEMO = { seed: 1, minutes: 30, pods: 20, giveUp: 10, json: false, report: "report.html" };
const ALL =
  "--trace load.csv --format cores --scale-p95 1.5 --algorithms coallocator,captain --seeds 7 " +
  "--slo-ms 250 --give-up 2 --minutes=30 --quick --json --no-report";

const OWN_LOAD = "--seed -7 --minutes 5 --pods=3 --give-up 2.5 --trace load.csv --format cores";

pure("parseArenaOptions() and parseDemoOptions() read every flag, with defaults", () => {
  const rows: readonly (readonly [line: string, flags: object])[] = [
    ["arena", ARENA],
    ["arena --quick", { ...ARENA, quick: true, seeds: 2 }],
    ["arena --quick --seeds 3", { ...ARENA, quick: true, seeds: 3 }],
    [`arena ${ALL}`, {
      ...{
        trace: "load.csv",
        format: "cores",
        scaleP95: 1.5,
        algorithms: ["captain", "coallocator"],
      },
      ...{ seeds: 7, sloMs: 250, giveUp: 2, minutes: 30, quick: true, json: true, report: false },
    }],
    ["arena --json", { ...ARENA, json: true, report: false }],
    ["arena --json --report a.html", { ...ARENA, json: true, report: "a.html" }],
    ["arena --no-report", { ...ARENA, report: false }],
    ["arena -- --seeds 1", { ...ARENA, seeds: 1 }],
    ["arena --scenes batch,crane0", { ...ARENA, scenes: ["crane0", "batch"] }],
    ["demo", DEMO],
    [`demo ${OWN_LOAD} --json --report a`, {
      ...{ seed: -7, minutes: 5, pods: 3, giveUp: 2.5, trace: "load.csv", format: "cores" },
      ...{ json: true, report: "a" },
    }],
    ["demo --no-report", { ...DEMO, report: false }],
  ];
  for (const [line, flags] of rows) assert.deepEqual(read(line), flags, line);
});

pure("parseArenaOptions() and parseDemoOptions() name flag, value and remedy of a mistake", () => {
  const rows: readonly (readonly [line: string, message: RegExp])[] = [
    ["arena --slo-ms x", /--slo-ms <ms>.*'x'.*from 1 to 600000/],
    ["arena --minutes 241", /--minutes <count>.*'241'.*from 1 to 240/],
    ["arena --scale-p95 0", /--scale-p95 <cores>.*'0'.*above 0 and up to 16/],
    ["arena --scale-p95 1e9", /'1e9'/],
    ["arena --algorithms captain,magic", /--algorithms .*'magic', .*static, hpa/],
    ["arena --scenes magic", /--scenes .*'magic', .*light-services/],
    ["arena --scenes batch --trace f", /leave out --trace or --scenes/],
    ["arena --slo-ms 250 --give-up 0.25", /--slo-ms 250 .*--give-up 0\.25/],
    ["arena --format csv --trace f", /'csv'.*rps, cores, arrivals/],
    ["arena --scale-p95 2", /'--scale-p95 2'.*--trace is missing/],
    ["arena --report --json", /'--json'.*\.\/--json/],
    ["arena --trace ", /--trace <file>.*Give the path/],
    ["arena now", /0 arguments but got 1/],
    ["demo --pods 0", /--pods <count>.*'0'.*from 1 to 200/],
    ["demo --give-up -1", /--give-up <seconds>.*'-1'.*from 0 to 3600/],
    ["demo --pods 2.5", /--pods <count>.*'2\.5'.*from 1 to 200/],
    ["demo --seed x", /--seed <integer>.*'x'.* -2147483647 to 2147483647/],
    ["demo --seed 2147483648", /--seed <integer>.* to 2147483647/],
    ["demo --pods", /--pods <count>.*missing/],
    ["demo --format rps", /'--format rps'.*--trace is missing/],
  ];
  for (const [line, message] of rows) assert.match(String(read(line)), message, line);
});

pure("parseArenaOptions() and parseDemoOptions() answer --help, whatever else is asked", () => {
  const arena = String(read("arena --help --quick"));
  const parts = ["100 ms", "--quick plays", "scaled to 2 CPUs", "default arena.html"];
  for (const part of [...algorithmNames(), ...TRACE_FORMATS, ...parts]) {
    assert.ok(arena.includes(part), part);
  }
  const demo = String(read("demo --pods 3 --help"));
  for (const flag of ["seed", "minutes", "pods", "trace", "format", "no-report"]) {
    assert.ok(demo.includes(`--${flag}`), flag);
  }
  for (const format of TRACE_FORMATS) assert.ok(demo.includes(`\n  ${format} `), format);
  assert.ok(demo.split("\n").every((line) => line.length <= 100));
});

pure("parseDemoOptions() gives flags within bounds or a usage error, whatever it is fed", () => {
  const flags = ["--seed", "--minutes", "--pods", "--trace", "--format", "--json", "--report"];
  const more = ["--no-report", "--help", "-h", "--", "--version", "-x", "--constructor=1"];
  const argument = fc.oneof(
    fc.constantFrom(...flags, ...more, "--seeds", "--algorithms"),
    fc.constantFrom(...TRACE_FORMATS, "1", "-1", "1e3", "0x10", "NaN", "", " "),
    fc.string(),
    fc.tuple(fc.constantFrom(...flags), fc.string()).map(([flag, text]) => `${flag}=${text}`),
  );
  fc.assert(fc.property(fc.array(argument, { maxLength: 6 }), (args) => {
    parseArenaOptions(args);
    const parsed = parseDemoOptions(args);
    if (parsed.kind === "usage-error") {
      assert.match(parsed.message, /^Cannot run .*demo: \S/);
    } else if (parsed.kind === "flags") {
      const { seed, minutes, pods, trace, report } = parsed.flags;
      assert(Number.isSafeInteger(seed));
      assert(Number.isInteger(minutes) && minutes >= 1 && minutes <= 240);
      assert(Number.isInteger(pods) && pods >= 1 && pods <= 200);
      assert(trace !== "" && report !== "");
    } else {
      assert(args.includes("--help") || args.some((arg) => arg.startsWith("-h")));
    }
  }));
});

/** Exit code, output, errors and page of a small demo. */
async function played(...args: string[]) {
  const world = taskInMemory();
  const code = await demo(["--", "--minutes", "2", "--pods", "5", ...args], world);
  return { code, ...world.written };
}

Deno.test("demo() shows progress and the table, and writes the report", async () => {
  const { code, out, err, page } = await played();
  assert.equal(code, 0);
  assert.match(err, /^12 % .*left\n[^]*^100 % .*gone\n/m);
  for (const part of ["throttled ms/s", "Jain's", "limits at 2x request"]) {
    assert.ok(out.includes(part), `"${part}" is missing`);
  }
  assert.match(out, /Report: report\.html\n$/);
  assert.match(page, /^<!doctype html>/i);
});

Deno.test("demo() plays a trace of the user's own", () =>
  withFile(Array.from({ length: 120 }, (_, s) => 20 + s % 30).join("\n"), async (path) => {
    const { code, err, page } = await played("--trace", path);
    assert.equal(code, 0);
    assert.ok(page.includes(path));
    assert.match(err, /^Trace ".*" .* rps; .*--format/);
  }));

Deno.test("demo() says what is wrong with a trace, and exits with 1", () =>
  withFile("0\n0\n0\n", async (path) => {
    const { code, out, err } = await played("--trace", path);
    assert.deepEqual([code, out], [1, ""]);
    assert.match(err, /^Cannot read trace .* is 0, /);
  }));

/** Exit code, output, errors and page of an arena of one seed over a trace, played in this thread. */
async function playedArena(path: string, ...args: string[]) {
  const world = { ...taskInMemory(), workers: 0 };
  const few = ["--seeds", "1", "--algorithms", "mbcas-original,coallocator,oracle"];
  const code = await arena(["--trace", path, ...few, ...args], world);
  return { code, ...world.written };
}

const MINUTE = Array.from({ length: 60 }, (_, second) => 40 + second).join("\n");

Deno.test("arena() shows a table and the goals, and writes the page", () =>
  withFile(MINUTE, async (path) => {
    const { code, out, err, page } = await playedArena(path);
    assert.equal(code, 0);
    assert.match(err, /^100 % /m);
    for (const name of ["mbcas-original", "coallocator", "oracle", "static-equal", "best rival"]) {
      assert.ok(out.includes(name), `"${name}" is missing`);
    }
    assert.match(out, /Report: arena\.html\n$/);
    assert.match(page, /^<!doctype html>.*mbcas/is);
  }));

Deno.test("arena() says what is wrong with a trace, and exits with 1", async () => {
  await withFile("90000000\n".repeat(60), async (path) => {
    const { code, out, err } = await playedArena(path);
    assert.deepEqual([code, out], [1, ""]);
    assert.match(err, /scale-p95/);
  });
  const { code, err } = await playedArena("/tmp/gone");
  assert.equal(code, 1);
  assert.match(err, /Cannot read trace "\/tmp\/gone"/);
});

Deno.test("arena() plays a quarter of an hour of a longer trace when it is to be quick", () =>
  withFile("1\n".repeat(16 * 60), async (path) => {
    const { out, err, page } = await playedArena(
      path,
      "--algorithms",
      "mbcas-original",
      "--quick",
      "--json",
    );
    assert.equal(JSON.parse(out).minutes, 15);
    assert.match(err, /^Trace ".*" .* rps; .*--format/);
    assert.equal(page, "");
  }));

const OUTCOMES = [
  outcome({ algorithm: "captain", setting: "target 0.1", cores: 1.9 }),
  outcome({ algorithm: "captain", setting: "target 0.3", cores: 1.1, sloHeld: false }),
  outcome({ algorithm: "hpa", setting: "target 0.8", cores: 3, sloHeld: false }),
  outcome({ ...ENTRIES.coallocator, cores: 1.5 }),
  outcome({ ...ENTRIES.tight, cores: 4 }),
  outcome({ ...ENTRIES.equalCores, cores: 1.5 }),
  outcome({ ...ENTRIES.unlimited, cores: 8 }),
  outcome({ ...ENTRIES.oracle, cores: 1.25 }),
];

pure(
  "stageTable() shows each rival's best setting, then yardsticks, CoAllocator and the oracle",
  () => {
    const lines = stageTable(stageResult(OUTCOMES, { p95Cores: 2 })).split("\n");
    assert.equal(lines[0], "bursty: 60 min, 5 seeds, SLO P99 ≤ 139 ms, P95 scaled to 2 CPUs");
    assert.deepEqual(lines.slice(3, 10).map((line) => line.split(/ {2,}/).slice(0, 4)), [
      ["captain", "target 0.1", "held", "1.90"],
      ["hpa", "target 0.8", "missed", "3.00"],
      ["static-equal", "cores of tight", "held", "1.50"],
      ["unlimited", "no ceiling", "held", "8.00"],
      ["coallocator", "default", "held", "1.50"],
      ["coallocator-tight", "limits follow demand", "held", "4.00"],
      ["oracle", "knows the future", "held", "1.25"],
    ]);
  },
);

pure("stageTable() leaves out columns without figures", () => {
  const plain = stageTable(stageResult(OUTCOMES));
  for (const head of ["reaction", "converged", "Jain"]) assert.ok(!plain.includes(head), head);
  const burst = outcome({
    ...ENTRIES.coallocator,
    reactionMsMedian: 500,
    reactionMsP95: 700,
    drainSMedian: 1,
  });
  const bursts = stageTable(stageResult([burst], { kind: "bursts" }));
  assert.match(bursts, /reaction.*drained/);
  const shared = stageTable(
    stageResult([outcome(ENTRIES.coallocator)], { kind: "shared node", seeds: 1 }),
  );
  assert.match(shared, /Jain.*envy/);
  assert.match(shared, /1 seed,/);
});

pure("goalTable() says what is met, and by how much the rest is missed", () => {
  const base = { where: "bursty", bound: "at most", goal: 2 } as const;
  const bestRival = { algorithm: "captain", setting: "target 0.1", value: 2.1 };
  const goals: Goal[] = [
    { ...base, measure: "cores", coallocator: 1.5, met: true, bestRival },
    { ...base, measure: "changes", coallocator: 2.5, met: false, missedBy: 0.5 },
    { ...base, measure: "more cores", coallocator: NaN, met: false },
  ];
  const lines = goalTable(goals).split("\n");
  assert.match(lines[2] ?? "", /cores: bursty +≤ 2\.00 +1\.50 +met +2\.10 +captain target 0\.1/);
  assert.match(lines[3] ?? "", /changes: bursty.*missed by 0\.500/);
  assert.match(lines[4] ?? "", /SLO missed +missed/);
});
