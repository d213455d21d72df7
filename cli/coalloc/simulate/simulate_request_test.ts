import assert from "node:assert/strict";
import { readCommandLine } from "../command_line.ts";
import { simulateCommandLine } from "./simulate_command_line.ts";
import { type SimulateRequest, simulateRequest } from "./simulate_request.ts";

/** The request of a command line, or what is said about it. */
function asked(...args: readonly string[]): SimulateRequest | string {
  const line = readCommandLine(["simulate", ...args]);
  return "text" in line ? line.text : simulateRequest(line.flags);
}

function request(...args: readonly string[]): SimulateRequest {
  const found = asked(...args);
  assert(typeof found !== "string", String(found));
  return found;
}

Deno.test({
  name: "simulateRequest() has a default for all but the trace",
  permissions: "none",
  fn() {
    assert.deepEqual(request("--trace", "f"), {
      source: { path: "f" },
      costMs: 8,
      seeds: 5,
      minutes: 60,
      output: "table",
    });
    assert.match(
      String(asked()),
      /^Cannot simulate: .*--trace.*--policy/,
    );
  },
});

Deno.test({
  name: "simulateRequest() reads every flag; simulateCommandLine() writes it again",
  permissions: "none",
  fn() {
    const line = "--trace cpu.json --format prometheus --series namespace=shop,pod=web-0 " +
      "--scale-p95 2.5 --request 500m --limit 2 --cost-ms 20 --slo-ms 250 --seeds 3 --minutes 30";
    const read = request(...line.split(" "), "-o", "yaml");
    assert.deepEqual(read, {
      source: {
        path: "cpu.json",
        format: "prometheus",
        series: new Map([["namespace", "shop"], ["pod", "web-0"]]),
      },
      p95Cores: 2.5,
      request: 500,
      originalLimit: 2000,
      costMs: 20,
      sloMs: 250,
      seeds: 3,
      minutes: 30,
      output: "yaml",
    });
    assert.equal(simulateCommandLine(read), `kubectl coalloc simulate ${line}`);
    assert.equal(
      simulateCommandLine(request("--trace", "my 'file'", "--html")),
      `kubectl coalloc simulate --trace 'my '\\''file'\\''' --cost-ms 8 --seeds 5 --minutes 60 ` +
        "--html > page.html",
    );
    assert.equal(request("--trace", "-").source.path, "-");
    assert.equal(request("--trace", "f", "--json").output, "json");
    assert.equal(request("--trace", "f", "--json", "-o", "json").output, "json");
    assert.deepEqual(
      request("--trace", "f", "--series", 'pod="a=b"').source.series,
      new Map([["pod", "a=b"]]),
    );
  },
});

Deno.test({
  name: "simulateRequest() names flag, value and remedy of a mistake",
  permissions: "none",
  fn() {
    const said = (line: string) => String(asked("--trace", "f", ...line.split(" ")));
    assert.match(said("--seeds 0"), /--seeds <count>.*'0'.* 1 to 100/);
    assert.match(said("--minutes 1.5"), /--minutes <count>.*'1\.5'.*whole number from 1 to 1440/);
    assert.match(said("--cost-ms -8"), /--cost-ms <ms>.*'-8'.*a number from 0\.1 to 60000/);
    assert.match(said("--slo-ms soon"), /--slo-ms <ms>.*'soon'.*a number from 1/);
    assert.match(said("--scale-p95 NaN"), /--scale-p95 <cores>.*'NaN'.*from 0\.01 to 512/);
    for (const wrong of ["0", "-1", "much", "600"]) {
      assert.match(
        said(`--limit ${wrong}`),
        /--limit <cpu>.*above 0 and up to 512, for instance 500m/,
      );
    }
    assert.match(said("--series web-0"), /--series <label=value>.*label=value.* pod=/);
    assert.match(said("--format xml"), /'xml'.*rps,.*prometheus/);
    assert.match(String(asked("--trace", "--json")), /'--json'.*\.\/--json/);
    assert.match(String(asked("--trace", "")), /--trace <file>.*path/);
    assert.equal(
      said("--request 2 --limit 500m"),
      "Cannot simulate: --request 2 is above --limit 500m",
    );
    assert.match(said("--series pod=a --format rps"), /--series .*--format is rps/);
    assert.match(said("--json --html"), /--json, --html .*--output /);
  },
});
