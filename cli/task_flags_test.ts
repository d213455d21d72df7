import assert from "node:assert/strict";
import fc from "fast-check";
import { algorithmNames } from "../lab/arena/outcome.ts";
import { TRACE_FORMATS } from "../lab/simulation/trace.ts";
import { pure } from "../tests/fixtures/pure.ts";
import { parseArenaOptions } from "./arena_options.ts";
import { parseDemoOptions } from "./demo_options.ts";

/** Flags as they were read; of help its text, of a mistake the message. */
function read(line: string): object | string {
  const [task, ...args] = line.split(" ");
  const parsed = task === "arena" ? parseArenaOptions(args) : parseDemoOptions(args);
  if (parsed.kind === "flags") return parsed.flags;
  return parsed.kind === "help" ? parsed.text : parsed.message;
}

const ARENA = {
  ...{ algorithms: algorithmNames(), seeds: 5, quick: false, json: false, report: "arena.html" },
};
const DEMO = { seed: 1, minutes: 30, pods: 20, giveUp: 10, json: false, report: "report.html" };
const ALL = "--trace load.csv --format cores --scale-p95 1.5 --algorithms ours,captain --seeds 7 " +
  "--slo-ms 250 --minutes=30 --quick --json --no-report";

const OWN_LOAD = "--seed -7 --minutes 5 --pods=3 --give-up 2.5 --trace load.csv --format cores";

pure("parseArenaOptions() and parseDemoOptions() read every flag, with defaults", () => {
  const rows: readonly (readonly [line: string, flags: object])[] = [
    ["arena", ARENA],
    ["arena --quick", { ...ARENA, quick: true, seeds: 2 }],
    ["arena --quick --seeds 3", { ...ARENA, quick: true, seeds: 3 }],
    [`arena ${ALL}`, {
      ...{ trace: "load.csv", format: "cores", scaleP95: 1.5, algorithms: ["captain", "ours"] },
      ...{ seeds: 7, sloMs: 250, minutes: 30, quick: true, json: true, report: false },
    }],
    ["arena --json", { ...ARENA, json: true, report: false }],
    ["arena --json --report a.html", { ...ARENA, json: true, report: "a.html" }],
    ["arena --no-report", { ...ARENA, report: false }],
    ["arena -- --seeds 1", { ...ARENA, seeds: 1 }],
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
      assert.equal(parsed.exitCode, 2);
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
