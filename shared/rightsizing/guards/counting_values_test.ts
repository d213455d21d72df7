import assert from "node:assert/strict";
import { sampleHPA, sampleVPA } from "../../../tests/fixtures/sample_workloads.ts";
import {
  autoPolicy,
  type FactsChoice,
  MI,
  rightsizingFacts,
  templateContainer,
} from "../../../tests/fixtures/rightsizing_facts.ts";
import type { ValuesInForce } from "../workload_record.ts";
import { countingValues } from "./counting_values.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const TEMPLATE = { cpu: 100, memory: 64 * MI, cpuLimit: 200, memoryLimit: 128 * MI };
const IN_FORCE: ValuesInForce = {
  container: "app",
  cpu: 150,
  memory: 96 * MI,
  cpuLimit: 180,
  memoryLimit: 112 * MI,
  adoptedOn: TEMPLATE,
};
const ALL = { requestCPU: 150, limitCPU: 180, requestMemory: 96 * MI, limitMemory: 112 * MI };
const CPU = { requestCPU: 150, limitCPU: 180 };
const MEMORY = { requestMemory: 96 * MI, limitMemory: 112 * MI };
const LIMITS = { strategy: { updateRequestsOnly: false } };

/** What counts for `app`, and the words. */
function counting(choice: FactsChoice = LIMITS, inForce: ValuesInForce = IN_FORCE) {
  const { values, words } = countingValues([inForce], rightsizingFacts(choice));
  return { app: values.get("app") ?? {}, words: words.join("; ") };
}

test("countingValues() are all that was adopted, where nothing has changed since", () => {
  assert.deepEqual(counting(), { app: ALL, words: "" });
  const { adoptedOn: _unknown, ...older } = IN_FORCE;
  assert.deepEqual(counting(LIMITS, older), { app: ALL, words: "" });
});

test("countingValues() have no limits where the policy updates requests only", () => {
  const { app, words } = counting({});
  assert.deepEqual(app, { requestCPU: 150, requestMemory: 96 * MI });
  assert.match(words, /only: app cpu .*180m .*, app memory .*112Mi /);
});

test("countingValues() leave a resource to its author who has edited it, and no other", () => {
  for (
    const edit of [
      { requestMemory: 1024 * MI },
      { limitMemory: 4096 * MI },
      { limitMemory: undefined },
    ]
  ) {
    const { requestMemory, limitMemory, ...rest } = { ...templateContainer(), ...edit };
    const containers = [{
      ...rest,
      ...(requestMemory === undefined ? {} : { requestMemory }),
      ...(limitMemory === undefined ? {} : { limitMemory }),
    }];
    const { app, words } = counting({ ...LIMITS, containers });
    assert.deepEqual(app, CPU);
    assert.match(words, /^[^;]*memory .* app [^;]*$/);
  }
  const { adoptedOn: _unknown, ...older } = IN_FORCE;
  const containers = [templateContainer({ limitMemory: 4096 * MI })];
  assert.deepEqual(counting({ ...LIMITS, containers }, older).app, ALL);
});

test("countingValues() know nothing of containers that the template has no more, or as sidecars", () => {
  const sidecar = [templateContainer({ name: "web" }), templateContainer({ sidecar: true })];
  for (const containers of [sidecar, sidecar.slice(0, 1)]) {
    const { app, words } = counting({ ...LIMITS, containers });
    assert.deepEqual(app, {});
    assert.match(words, /container app$/);
  }
});

test("countingValues() are not above the policy's bounds, and limits with their requests", () => {
  const bounds = { cpu: { min: 10, max: 120 }, memory: { min: 100 * MI, max: 4096 * MI } };
  // Less than the least may be all that a quota has left room for.
  const policy = autoPolicy({ updateRequestsOnly: false }, { bounds });
  const { app, words } = counting({ policy });
  assert.deepEqual(app, {
    requestCPU: 120,
    limitCPU: 120,
    requestMemory: 96 * MI,
    limitMemory: 112 * MI,
  });
  assert.match(words, /bounds: app cpu .*150m to 120m/);
});

test("countingValues() lower memory for narrower bounds only where the recent peak allows it", () => {
  const bounds = { cpu: { min: 10, max: 4000 }, memory: { min: MI, max: 80 * MI } };
  const policy = autoPolicy({ updateRequestsOnly: false }, { bounds });
  const lowered = { ...CPU, requestMemory: 80 * MI, limitMemory: 88 * MI };
  const of = (peak: number): unknown =>
    counting({ policy, memoryPeaks: new Map([["app", peak]]) }).app;
  assert.deepEqual(of(60 * MI), lowered);
  assert.deepEqual(of(75 * MI), ALL);
  assert.deepEqual(counting({ policy, memoryPeaks: new Map() }).app, ALL);
});

test("countingValues() are not below the recent peak + 15 %, as far as the author has given more", () => {
  const containers = [templateContainer({ requestMemory: 1024 * MI, limitMemory: 2048 * MI })];
  const adoptedOn = { ...TEMPLATE, memory: 1024 * MI, memoryLimit: 2048 * MI };
  const of = (peak: number) =>
    counting(
      { ...LIMITS, containers, memoryPeaks: new Map([["app", peak]]) },
      { ...IN_FORCE, adoptedOn },
    );
  assert.deepEqual(of(80 * MI).app, ALL);
  const lifted = { ...CPU, requestMemory: 126.5 * MI, limitMemory: 126.5 * MI };
  assert.deepEqual(of(100 * MI).app, lifted);
  assert.match(of(100 * MI).words, /15 %: app memory request 96Mi to 132644864, /);
  // The author has given less than the peak: what was adopted is more already, or all that he allows.
  const memoryPeaks = new Map([["app", 120 * MI]]);
  const less = counting({ ...LIMITS, memoryPeaks });
  assert.deepEqual(less.app, { ...ALL, limitMemory: 128 * MI });
});

test("countingValues() are nothing that another controller sets", () => {
  const vpa = (mode: string) => ({ ...LIMITS, verticalAutoscalers: [sampleVPA(mode)] });
  assert.deepEqual(counting(vpa("Off")).app, ALL);
  for (const mode of ["Initial", "Recreate", "Auto", "InPlaceOrRecreate"]) {
    const { app, words } = counting(vpa(mode));
    assert.deepEqual(app, {});
    assert.match(words, /^VPA web-vpa, mode /);
  }
  assert.deepEqual(counting({ ...LIMITS, autoscalers: [sampleHPA()] }).app, MEMORY);
  const strategy = { updateRequestsOnly: false, allowWithHPA: true };
  assert.deepEqual(counting({ strategy, autoscalers: [sampleHPA()] }).app, ALL);
});
