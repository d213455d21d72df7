import assert from "node:assert/strict";
import fc from "fast-check";
import { algorithmNames } from "../lab/arena/outcome.ts";
import { TRACE_FORMATS } from "../lab/simulation/trace.ts";
import { type ArenaOptions, parseArenaOptions } from "./arena_options.ts";

function options(...args: string[]): ArenaOptions {
  const parsed = parseArenaOptions(args);
  assert(parsed.kind === "run", JSON.stringify(parsed));
  return parsed.options;
}

function message(...args: string[]): string {
  const parsed = parseArenaOptions(args);
  assert(parsed.kind === "usage-error", JSON.stringify(parsed));
  assert.equal(parsed.exitCode, 2);
  return parsed.message;
}

Deno.test({
  name:
    "parseArenaOptions() plays all algorithms with five seeds by default, two when it is to be quick",
  permissions: "none",
  fn() {
    assert.deepEqual(options(), {
      algorithms: algorithmNames(),
      seeds: 5,
      quick: false,
      json: false,
      report: "arena.html",
    });
    assert.equal(options("--quick").seeds, 2);
    assert.equal(options("--quick", "--seeds", "3").seeds, 3);
  },
});

Deno.test({
  name: "parseArenaOptions() reads every flag",
  permissions: "none",
  fn() {
    const args =
      "--trace load.csv --format cores --scale-p95 1.5 --algorithms ours,captain --seeds 7 " +
      "--slo-ms 250 --minutes=30 --quick --json --no-report";
    assert.deepEqual(options(...args.split(" ")), {
      trace: { path: "load.csv", format: "cores", p95Cores: 1.5 },
      algorithms: ["captain", "ours"],
      seeds: 7,
      sloMs: 250,
      minutes: 30,
      quick: true,
      json: true,
    });
    assert.equal("report" in options("--json"), false);
    assert.equal(options("--json", "--report", "a.html").report, "a.html");
    assert.equal("report" in options("--no-report"), false);
    assert.deepEqual(options("--trace", "a").trace, { path: "a" });
    assert.deepEqual(options("--", "--seeds", "1").seeds, 1);
  },
});

Deno.test({
  name: "parseArenaOptions() names flag, value and remedy of a mistake",
  permissions: "none",
  fn() {
    assert.match(message("--seeds", "0"), /--seeds <count>.*'0'.* 1 to 100; .*arena --help$/);
    assert.match(message("--slo-ms", "x"), /--slo-ms <ms>.*'x'.*from 1 to 600000/);
    assert.match(message("--minutes", "241"), /--minutes <count>.*'241'.*from 1 to 240/);
    assert.match(message("--scale-p95", "0"), /--scale-p95 <cores>.*'0'.*above 0 and up to 16/);
    assert.match(message("--scale-p95", "1e9"), /'1e9'/);
    assert.match(message("--algorithms", "captain,magic"), /--algorithms .*'magic', .*static, hpa/);
    assert.match(message("--format", "csv", "--trace", "f"), /'csv'.*rps, cores, arrivals/);
    assert.match(message("--format", "rps"), /'--format rps'.*--trace is missing/);
    assert.match(message("--scale-p95", "2"), /'--scale-p95 2'.*--trace is missing/);
    assert.match(message("--report", "--json"), /'--json'.*\.\/--json/);
    assert.match(message("--trace", ""), /--trace <file>.*Give the path/);
    assert.match(message("--seed", "3"), /'--seed'.*Did you mean --seeds\?/);
    assert.match(message("now"), /0 arguments but got 1/);
  },
});

Deno.test({
  name:
    "parseArenaOptions() answers --help with algorithms, formats, the SLO and what quick leaves out",
  permissions: "none",
  fn() {
    const parsed = parseArenaOptions(["--help", "--quick"]);
    assert(parsed.kind === "help");
    const parts = [
      ...algorithmNames(),
      ...TRACE_FORMATS,
      "100 ms",
      "--quick plays",
      "scaled to 2 CPUs",
    ];
    parts.push("default arena.html, with --json none", "two seeds; about a minute");
    for (const part of parts) assert.ok(parsed.text.includes(part), `"${part}" is missing`);
  },
});

Deno.test({
  name: "parseArenaOptions() never throws",
  permissions: "none",
  fn() {
    const argument = fc.oneof(
      fc.constantFrom(
        "--trace",
        "--algorithms",
        "--seeds",
        "--json",
        "--report",
        "--help",
        "--",
        "-h",
      ),
      fc.string(),
    );
    fc.assert(fc.property(fc.array(argument), (args) => {
      assert.ok(["run", "help", "usage-error"].includes(parseArenaOptions(args).kind));
    }));
  },
});
