import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { parseBackTestBench } from "./command_line.ts";

pure("parseBackTestBench() reads options, also after a lone --, and has defaults", () => {
  assert.deepEqual(parseBackTestBench([]), {
    json: false,
    resource: "cpu",
    intervalMinutes: 60,
    warmUpHours: 24,
  });
  const line = "-- --json --data a.csv --resource memory --interval-minutes 5 --warm-up-hours 1";
  assert.deepEqual(parseBackTestBench(line.split(" ")), {
    json: true,
    data: "a.csv",
    resource: "memory",
    intervalMinutes: 5,
    warmUpHours: 1,
  });
});

pure("parseBackTestBench() answers --help with 0 and nonsense with 2", () => {
  const help = parseBackTestBench(["--help"]);
  assert.ok("text" in help && help.exitCode === 0 && /rules of rightsizing/.test(help.text));
  for (const wrong of [["--resource", "disk"], ["--interval-minutes", "0"], ["more"]]) {
    const answer = parseBackTestBench(wrong);
    assert.ok("exitCode" in answer && answer.exitCode === 2, wrong.join(" "));
  }
});
