import assert from "node:assert/strict";
import { allMet, compareReplicas, crowdReport } from "./crowd_report.ts";
import { CROWD_ALGORITHMS, type CrowdResult } from "./crowd_result.ts";
import { EXAMPLE } from "./example_result.ts";

function run(law: CrowdResult["law"], wanted: number): CrowdResult {
  return { ...EXAMPLE, law, replicas: [{ atS: 60, wanted, ready: 1 }] };
}

Deno.test("compareReplicas() compares means of medians, and needs runs of both algorithms", () => {
  const runs = [run("with", 4), run("with", 5), run("without", 4), run("without", 3)];
  assert.deepEqual(compareReplicas(runs), { with: 4.5, without: 3.5, difference: 1, met: true });
  assert.equal(compareReplicas([run("with", 5), run("without", 3)])?.met, false);
  assert.equal(compareReplicas([run("with", 5)]), undefined);
});

Deno.test("allMet() asks it of runs with the product, and of the replicas of both", () => {
  const objects = { ...EXAMPLE.objects, differences: ["a"] };
  const asked = { runs: 1, laws: CROWD_ALGORITHMS };
  assert.ok(allMet([run("with", 4), { ...run("without", 4), objects }], asked));
  assert.ok(!allMet([{ ...run("with", 4), objects }, run("without", 4)], asked));
  assert.ok(!allMet([run("with", 6), run("without", 4)], asked));
});

Deno.test("allMet() misses runs that were asked for", () => {
  const both = [run("with", 4), run("without", 4)];
  assert.ok(!allMet(both, { runs: 2, laws: CROWD_ALGORITHMS }));
  assert.ok(!allMet([run("with", 4)], { runs: 1, laws: CROWD_ALGORITHMS }));
  assert.ok(!allMet([run("without", 4)], { runs: 1, laws: ["with"] }));
  assert.ok(allMet([run("with", 4)], { runs: 1, laws: ["with"] }));
});

Deno.test("crowdReport() has a row a run, its verdicts, each refusal with the server's message, and the replicas", () => {
  const refusal = {
    atS: 0.41,
    user: "controller",
    pod: "web-1",
    code: 403,
    kind: "quota",
    message: "exceeded quota: cpu",
  };
  const writes = { ...EXAMPLE.writes, notAccepted: [refusal] };
  const notCreated = [{ what: "no room", count: 3 }];
  const text = crowdReport([{ ...run("with", 4), writes, notCreated }, run("without", 4)]);
  const lines = text.split("\n");
  assert.match(
    lines[1] ?? "",
    /^with +1 +60 +1 +0 +0 +4\.0 +4 +3 +120\.0 +38\.0 +1\.80 +0\.80 +0\.40$/,
  );
  assert.match(lines[2] ?? "", /^without +1 +60 +0 +0 +1 +4\.0 +4 +0 /);
  assert.ok(lines.some((line) => line.startsWith("  at 0.4 s web-1: 403 quota: ")));
  assert.ok(lines.some((line) => line.endsWith(": 3 no room")));
  assert.match(text, /^ {2}NOT MET no write/m);
  assert.match(text, /^ {2}met {4}limits /m);
  assert.match(text, /^ {2}workers: throttled 20 to 21 ms\/s/m);
  assert.match(lines.at(-1) ?? "", /^replicas,.* 4\.00 with, 4\.00 without; \+0\.00, within 1$/);
  assert.doesNotMatch(text, /quiet machine/);
  const figures = { ...EXAMPLE.figures, othersCores: 0.9 };
  assert.match(crowdReport([{ ...run("with", 4), figures }]), / 0\.90 CPUs:.*quiet machine/);
  assert.match(crowdReport([run("with", 4)]), /^replicas .*without/m);
});
