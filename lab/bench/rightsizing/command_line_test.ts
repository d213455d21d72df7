import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { parseRightsizingBench } from "./command_line.ts";

pure("parseRightsizingBench() reads options, also after a lone --, and has defaults", () => {
  assert.deepEqual(parseRightsizingBench([]), {
    json: false,
    workloads: 1000,
    pods: 1,
    containers: 5,
  });
  assert.deepEqual(
    parseRightsizingBench("-- --json --workloads 100 --pods 2 --containers 3".split(" ")),
    { json: true, workloads: 100, pods: 2, containers: 3 },
  );
});

pure("parseRightsizingBench() answers --help with 0 and nonsense with 2", () => {
  const help = parseRightsizingBench(["--help"]);
  assert.ok("text" in help && help.exitCode === 0 && /One whole pass/.test(help.text));
  for (const wrong of [["--workloads", "0"], ["--pods", "x"], ["more"]]) {
    const answer = parseRightsizingBench(wrong);
    assert.ok("exitCode" in answer && answer.exitCode === 2, wrong.join(" "));
  }
});
