import assert from "node:assert/strict";
import { parsePlacementBench } from "./command_line.ts";
import { type PlacementFigures, placementGoals, placementTable } from "./report.ts";

const FIGURES: PlacementFigures = {
  size: { workloads: 1000, pods: 10 },
  idle: { used: 20, resident: 80 },
  full: { used: 50, resident: 120 },
  syncedSeconds: 3,
  decisions: { count: 50, medianMs: 300, mostMs: 900 },
};

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

pure("placementGoals() counts megabytes over the idle controller, and the slowest decision", () => {
  const heldOf = (change: Partial<PlacementFigures>): readonly boolean[] =>
    placementGoals({ ...FIGURES, ...change }).map(({ held }) => held);
  assert.deepEqual(heldOf({}), [true, true, true]);
  // 96 MiB are 100.7 MB.
  assert.deepEqual(heldOf({ full: { used: 50, resident: 176 } }), [false, true, true]);
  assert.deepEqual(heldOf({ full: { used: 116, resident: 120 } }), [true, false, true]);
  const decisions = { count: 50, medianMs: 300, mostMs: 5000 };
  assert.deepEqual(heldOf({ decisions }), [true, true, false]);
});

pure("placementTable() has a line for each goal", () => {
  const text = placementTable(FIGURES);
  for (const { name } of placementGoals(FIGURES)) assert.match(text, new RegExp(`^${name} `, "m"));
  assert.match(text, /1000 Deployments of 10 pods/);
});

pure("parsePlacementBench() has the size of the goals by default", () => {
  assert.deepEqual(parsePlacementBench([]), {
    json: false,
    workloads: 1000,
    pods: 10,
    changes: 50,
  });
  const quick = parsePlacementBench(["--", "--json", "--workloads", "20"]);
  assert.ok("workloads" in quick && quick.workloads === 20 && quick.json);
  assert.ok("exitCode" in parsePlacementBench(["--pods", "none"]));
});
