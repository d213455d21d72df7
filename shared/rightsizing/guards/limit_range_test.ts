import assert from "node:assert/strict";
import type { CPURange } from "../../actuation/cpu_range.ts";
import {
  MI,
  outcomeOf,
  recommendation,
  rightsizingFacts,
  templateContainer,
} from "../../../tests/fixtures/rightsizing_facts.ts";
import type { ResourceRanges } from "./rightsizing_facts.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const ANYTHING: CPURange = { min: 0, max: Infinity, ratio: Infinity };
const LIMITS = { updateRequestsOnly: false };

function cpu(container: Partial<CPURange>, pod: Partial<CPURange> = {}): ResourceRanges {
  return { cpu: { container: { ...ANYTHING, ...container }, pod: { ...ANYTHING, ...pod } } };
}

function memory(container: Partial<CPURange>, pod: Partial<CPURange> = {}): ResourceRanges {
  return { memory: { container: { ...ANYTHING, ...container }, pod: { ...ANYTHING, ...pod } } };
}

test("outsideRanges() clamps requests and limits into what a container may have", () => {
  assert.equal(
    outcomeOf({ ranges: cpu({ min: 10, max: 300 }) }),
    "InPlace: app cpu 150m, app memory 96Mi",
  );
  const recommendations = [
    recommendation({ cpu: 500, cpuLimit: 600, memory: 8 * MI, memoryLimit: 9 * MI }),
  ];
  assert.equal(
    outcomeOf({ recommendations, strategy: LIMITS, ranges: cpu({ max: 300 }) }),
    "InPlace: app cpu 300m (limit 300m), app memory 8Mi (limit 9Mi)",
  );
  assert.equal(
    outcomeOf({ recommendations, strategy: LIMITS, ranges: memory({ min: 32 * MI }) }),
    "InPlace: app cpu 500m (limit 600m), app memory 32Mi (limit 32Mi)",
  );
});

test("outsideRanges() keeps a limit that stays within the ratio of its request, or follows with its own", () => {
  const recommendations = [recommendation({ cpu: 40, cpuLimit: 90 })];
  assert.equal(
    outcomeOf({ recommendations, ranges: cpu({ ratio: 4 }) }),
    "InPlace: app cpu 50m, app memory 96Mi",
  );
  assert.equal(
    outcomeOf({ recommendations, strategy: LIMITS, ranges: cpu({ ratio: 2 }) }),
    "InPlace: app cpu 40m (limit 80m), app memory 96Mi (limit 112Mi)",
  );
});

test("outsideRanges() cuts raises to what the pod as a whole may have", () => {
  const containers = [templateContainer(), templateContainer({ name: "log" })];
  const recommendations = ["app", "log"].map((container) =>
    recommendation({ container, cpu: 150, cpuLimit: 300, memoryLimit: 128 * MI })
  );
  assert.equal(
    outcomeOf({ containers, recommendations, strategy: LIMITS, ranges: cpu({}, { max: 500 }) }),
    "InPlace: app cpu 150m (limit 250m), app memory 96Mi (limit 128Mi), " +
      "log cpu 150m (limit 250m), log memory 96Mi (limit 128Mi)",
  );
  assert.equal(
    outcomeOf({ containers, recommendations, ranges: memory({}, { max: 256 * MI }) }),
    "InPlace: app cpu 150m, app memory 96Mi, log cpu 150m, log memory 96Mi",
  );
});

test("outsideRanges() holds where the server would refuse the pod whatever is wanted", () => {
  const containers = [templateContainer(), templateContainer({ name: "log", limitCPU: 900 })];
  const held = outcomeOf({
    containers,
    recommendations: [recommendation()],
    ranges: cpu({ max: 500 }),
  });
  assert.match(held, /^OutsideRanges LimitRange: pod web-1: cpu .*log: .* allows .*500m/);
  assert.match(
    outcomeOf({ containers, ranges: memory({}, { min: 1024 * MI }) }),
    /^OutsideRanges LimitRange: pod web-1: memory of all .* asks for 1024Mi/,
  );
  assert.match(outcomeOf({ containers, ranges: cpu({ max: 900 }) }), /^InPlace: /);
});

test("outsideRanges() lets no resize write defaults into a pod, which recreation need not fear", () => {
  const { limitMemory: _none, ...open } = templateContainer();
  const ranges = { defaults: ["limits.memory"] };
  const held = outcomeOf({ containers: [open], ranges });
  assert.match(held, /^OutsideRanges LimitRange: pod web-1: .* defaults .*app/);
  const strategy = { allowInPlaceResize: false, allowRecreate: true };
  assert.match(outcomeOf({ containers: [open], ranges, strategy }), /^Recreate: /);
  assert.match(outcomeOf({ ranges }), /^InPlace: /);
  assert.equal(rightsizingFacts().ranges, undefined);
});
