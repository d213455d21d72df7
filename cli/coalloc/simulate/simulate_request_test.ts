import assert from "node:assert/strict";
import { pure } from "../../../tests/fixtures/pure.ts";
import { readCommandLine } from "../coalloc_command.ts";
import { simulateCommandLine, type SimulateRequest, simulateRequest } from "./simulate_request.ts";

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

pure("simulateRequest() has a default for all but the trace", () => {
  assert.deepEqual(request("--trace", "f"), {
    source: { path: "f" },
    costMs: 8,
    seeds: 5,
    minutes: 60,
    output: "table",
  });
});

pure("simulateRequest() reads every flag; simulateCommandLine() writes it again", () => {
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
});

pure("simulateRequest() names flag, value and remedy of a mistake", () => {
  for (
    const [line, message] of [
      ["--seeds 0", /--seeds <count>.*'0'.* 1 to 100/],
      ["--minutes 1.5", /--minutes <count>.*'1\.5'.*whole number from 1 to 1440/],
      ["--cost-ms -8", /--cost-ms <ms>.*'-8'.*a number from 0\.1 to 60000/],
      ["--slo-ms soon", /--slo-ms <ms>.*'soon'.*a number from 1/],
      ["--scale-p95 NaN", /--scale-p95 <cores>.*'NaN'.*from 0\.01 to 512/],
      ...["0", "-1", "600"].map((wrong) => [`--limit ${wrong}`, /--limit <cpu>/] as const),
      ["--trace --json", /'--json'.*\.\/--json/],
    ] as const
  ) assert.match(String(asked("--trace", "f", ...line.split(" "))), message, line);
});
