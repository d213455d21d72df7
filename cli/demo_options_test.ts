import assert from "node:assert/strict";
import fc from "fast-check";
import { TRACE_FORMATS } from "../lab/simulation/trace.ts";
import { type DemoOptions, parseDemoOptions } from "./demo_options.ts";

function options(...args: string[]): DemoOptions {
  const parsed = parseDemoOptions(args);
  assert(parsed.kind === "run", JSON.stringify(parsed));
  return parsed.options;
}

function message(...args: string[]): string {
  const parsed = parseDemoOptions(args);
  assert(parsed.kind === "usage-error", JSON.stringify(parsed));
  assert.equal(parsed.exitCode, 2);
  return parsed.message;
}

Deno.test({
  name: "parseDemoOptions() has a default for every flag",
  permissions: "none",
  fn() {
    assert.deepEqual(options(), {
      seed: 1,
      minutes: 30,
      pods: 20,
      giveUp: 10,
      json: false,
      report: "report.html",
    });
  },
});

Deno.test({
  name: "parseDemoOptions() reads every flag",
  permissions: "none",
  fn() {
    const args =
      "--seed -7 --minutes 5 --pods=3 --give-up 2.5 --trace load.csv --format cores --json --report a";
    assert.deepEqual(options(...args.split(" ")), {
      seed: -7,
      minutes: 5,
      pods: 3,
      giveUp: 2.5,
      trace: { path: "load.csv", format: "cores" },
      json: true,
      report: "a",
    });
    assert.deepEqual(options("--trace", "load.csv").trace, { path: "load.csv" });
    assert.equal("report" in options("--no-report"), false);
  },
});

Deno.test({
  name: "parseDemoOptions() names flag, value and remedy of a mistake",
  permissions: "none",
  fn() {
    assert.match(
      message("--minutes", "241"),
      /--minutes <count>.*'241'.* 1 to 240; .*demo --help$/,
    );
    assert.match(message("--pods", "0"), /--pods <count>.*'0'.*from 1 to 200/);
    assert.match(message("--give-up", "-1"), /--give-up <seconds>.*'-1'.*from 0 to 3600/);
    assert.match(message("--pods", "2.5"), /--pods <count>.*'2\.5'.*from 1 to 200/);
    assert.match(
      message("--seed", "x"),
      /--seed <integer>.*'x'.* -2147483647 to 2147483647/,
    );
    assert.match(message("--seed", "2147483648"), /--seed <integer>.* to 2147483647/);
    assert.match(message("--pods"), /--pods <count>.*missing/);
    assert.match(message("--format", "csv", "--trace", "f"), /'csv'.*rps, cores, arrivals/);
    assert.match(message("--format", "rps"), /'--format rps'.*--trace is missing/);
    assert.match(message("--report", "--json"), /'--json'.*\.\/--json/);
    assert.match(message("--trace", ""), /--trace <file>.*Give the path/);
    assert.match(message("--minute", "3"), /'--minute'.*Did you mean --minutes\?/);
    assert.match(message("now"), /0 arguments but got 1/);
  },
});

Deno.test({
  name: "parseDemoOptions() answers --help with the text, whatever else is asked",
  permissions: "none",
  fn() {
    const parsed = parseDemoOptions(["--pods", "3", "--help"]);
    assert(parsed.kind === "help");
    for (const flag of ["--seed", "--minutes", "--pods", "--trace", "--format", "--no-report"]) {
      assert(parsed.text.includes(flag), flag);
    }
    for (const format of TRACE_FORMATS) assert(parsed.text.includes(`\n  ${format} `), format);
    assert(parsed.text.split("\n").every((line) => line.length <= 100));
  },
});

Deno.test({
  name: "parseDemoOptions() gives options within bounds or a usage error, whatever it is fed",
  permissions: "none",
  fn() {
    const flags = ["--seed", "--minutes", "--pods", "--trace", "--format", "--json", "--report"];
    const more = ["--no-report", "--help", "-h", "--", "--version", "-x", "--constructor=1"];
    const argument = fc.oneof(
      fc.constantFrom(...flags, ...more),
      fc.constantFrom(...TRACE_FORMATS, "1", "-1", "1e3", "0x10", "NaN", "", " "),
      fc.string(),
      fc.tuple(fc.constantFrom(...flags), fc.string()).map(([flag, text]) => `${flag}=${text}`),
    );
    fc.assert(
      fc.property(fc.array(argument, { maxLength: 6 }), (args) => {
        const parsed = parseDemoOptions(args);
        if (parsed.kind === "usage-error") {
          assert.match(parsed.message, /^Cannot run .*demo: \S/);
          assert.equal(parsed.exitCode, 2);
        } else if (parsed.kind === "run") {
          const { seed, minutes, pods, trace, report } = parsed.options;
          assert(Number.isSafeInteger(seed));
          assert(Number.isInteger(minutes) && minutes >= 1 && minutes <= 240);
          assert(Number.isInteger(pods) && pods >= 1 && pods <= 200);
          assert(trace === undefined || trace.path !== "");
          assert(report === undefined || report !== "");
        } else {
          assert(args.includes("--help") || args.some((arg) => arg.startsWith("-h")));
        }
      }),
    );
  },
});
