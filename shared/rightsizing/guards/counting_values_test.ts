import assert from "node:assert/strict";
import {
  autoPolicy,
  bareContainer,
  type FactsChoice,
  MI,
  rightsizingFacts,
  templateContainer,
} from "../../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import { sampleHPA, sampleVPA } from "../../../tests/fixtures/sample_workloads.ts";
import type { QuotaRoom } from "../../resize/checks/resource_quota.ts";
import type { AmountRange } from "../../resize/inputs/resize_input.ts";
import { describeWanted, type ResourcePair, wantedOf } from "../../resize/inputs/resources.ts";
import type { ValuesInForce } from "../workload_record.ts";
import { countingValues, fitNewPod } from "./counting_values.ts";

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
const ALL = { requests: { cpu: 150, memory: 96 * MI }, limits: { cpu: 180, memory: 112 * MI } };
const CPU = { requests: { cpu: 150 }, limits: { cpu: 180 } };
const MEMORY = { requests: { memory: 96 * MI }, limits: { memory: 112 * MI } };
const LIMITS = { strategy: { updateRequestsOnly: false } };

/** What counts for `app`, and the messages. */
function counting(choice: FactsChoice = LIMITS, inForce: ValuesInForce = IN_FORCE) {
  const { values, messages } = countingValues([inForce], rightsizingFacts(choice));
  return { app: values.get("app") ?? {}, messages: messages.join("; ") };
}

test("countingValues() are all that was adopted, where nothing has changed since", () => {
  assert.deepEqual(counting(), { app: ALL, messages: "" });
  const { adoptedOn: _unknown, ...older } = IN_FORCE;
  assert.deepEqual(counting(LIMITS, older), { app: ALL, messages: "" });
});

test("countingValues() have no limits where the policy updates requests only", () => {
  const { app, messages } = counting({});
  assert.deepEqual(app, { requests: { cpu: 150, memory: 96 * MI }, limits: {} });
  assert.match(messages, /only: app cpu .*180m .*, app memory .*112Mi /);
});

test("countingValues() drop the resource that its author has edited, and no other", () => {
  for (
    const edit of [
      { requests: { cpu: 100, memory: 1024 * MI } },
      { limits: { cpu: 200, memory: 4096 * MI } },
      { limits: { cpu: 200 } },
    ]
  ) {
    const containers = [{ ...templateContainer(), ...edit }];
    const { app, messages } = counting({ ...LIMITS, containers });
    assert.deepEqual(app, CPU);
    assert.match(messages, /^[^;]*memory .* app [^;]*$/);
  }
  const { adoptedOn: _unknown, ...older } = IN_FORCE;
  const containers = [templateContainer({ limits: { memory: 4096 * MI } })];
  assert.deepEqual(counting({ ...LIMITS, containers }, older).app, ALL);
});

test("countingValues() know nothing of containers that the template has no more, or as sidecars", () => {
  const sidecar = [templateContainer({ name: "web" }), templateContainer({ sidecar: true })];
  for (const containers of [sidecar, sidecar.slice(0, 1)]) {
    const { app, messages } = counting({ ...LIMITS, containers });
    assert.deepEqual(app, {});
    assert.match(messages, /container app$/);
  }
});

test("countingValues() are not above the policy's bounds, and limits with their requests", () => {
  const bounds = { cpu: { min: 10, max: 120 }, memory: { min: 100 * MI, max: 4096 * MI } };
  // Less than the least may be all that a quota has left room for.
  const policy = autoPolicy({ updateRequestsOnly: false }, { bounds });
  const { app, messages } = counting({ policy });
  assert.deepEqual(app, {
    requests: { cpu: 120, memory: 96 * MI },
    limits: { cpu: 120, memory: 112 * MI },
  });
  assert.match(messages, /bounds: app cpu .*150m to 120m/);
});

test("countingValues() lower memory for narrower bounds only where the recent peak allows it", () => {
  const bounds = { cpu: { min: 10, max: 4000 }, memory: { min: MI, max: 80 * MI } };
  const policy = autoPolicy({ updateRequestsOnly: false }, { bounds });
  const lowered = {
    ...CPU,
    requests: { ...CPU.requests, memory: 80 * MI },
    limits: { ...CPU.limits, memory: 88 * MI },
  };
  const of = (peak: number): unknown =>
    counting({ policy, memoryPeaks: new Map([["app", peak]]) }).app;
  assert.deepEqual(of(60 * MI), lowered);
  assert.deepEqual(of(75 * MI), ALL);
  assert.deepEqual(counting({ policy, memoryPeaks: new Map() }).app, ALL);
});

test("countingValues() are not below the recent peak + 15 %, as far as the author has given more", () => {
  const containers = [
    templateContainer({ requests: { memory: 1024 * MI }, limits: { memory: 2048 * MI } }),
  ];
  const adoptedOn = { ...TEMPLATE, memory: 1024 * MI, memoryLimit: 2048 * MI };
  const of = (peak: number) =>
    counting(
      { ...LIMITS, containers, memoryPeaks: new Map([["app", peak]]) },
      { ...IN_FORCE, adoptedOn },
    );
  assert.deepEqual(of(80 * MI).app, ALL);
  const lifted = {
    ...CPU,
    requests: { ...CPU.requests, memory: 126.5 * MI },
    limits: { ...CPU.limits, memory: 126.5 * MI },
  };
  assert.deepEqual(of(100 * MI).app, lifted);
  assert.match(of(100 * MI).messages, /15 %: app memory request 96Mi to 132644864, /);
  // The author has given less than the peak: what was adopted is more already, or all that he allows.
  const memoryPeaks = new Map([["app", 120 * MI]]);
  const less = counting({ ...LIMITS, memoryPeaks });
  assert.deepEqual(less.app, { ...ALL, limits: { ...ALL.limits, memory: 128 * MI } });
});

test("countingValues() are nothing that another controller sets", () => {
  const vpa = (mode: string) => ({ ...LIMITS, verticalAutoscalers: [sampleVPA(mode)] });
  assert.deepEqual(counting(vpa("Off")).app, ALL);
  for (const mode of ["Initial", "Recreate", "Auto", "InPlaceOrRecreate"]) {
    const { app, messages } = counting(vpa(mode));
    assert.deepEqual(app, {});
    assert.match(messages, /^VPA web-vpa, mode /);
  }
  assert.deepEqual(counting({ ...LIMITS, autoscalers: [sampleHPA()] }).app, MEMORY);
  const strategy = { updateRequestsOnly: false, allowWithHPA: true };
  assert.deepEqual(counting({ strategy, autoscalers: [sampleHPA()] }).app, ALL);
});

const OPEN = [bareContainer("app", { requests: { cpu: 100, memory: 64 * MI }, limits: {} })];

/** What is left of 500 m for `app`. */
function fitted(
  choice: FactsChoice,
  containers = OPEN,
  pair: ResourcePair = { request: 500 },
): string {
  const wanted = wantedOf([{ container: "app", resource: "cpu", pair }]);
  return describeWanted(fitNewPod(wanted, rightsizingFacts({ containers, ...choice })).wanted);
}

const range = (max: number, min = 0) => ({ min, max, ratio: Infinity });
const ANY = range(Infinity);

test("fitNewPod() leaves all where nothing is against it, whatever holds for running pods", () => {
  assert.equal(fitted({}), "app cpu 500m");
  assert.equal(fitted({ resizeServed: false, dryRun: true, pods: [] }), "app cpu 500m");
});

test("fitNewPod() keeps within LimitRanges, or leaves the pod alone", () => {
  const limited = [bareContainer("app", { requests: { cpu: 100 }, limits: { cpu: 150 } })];
  const within = (container: AmountRange, pod: AmountRange): string =>
    fitted({ ranges: { cpu: { container, pod } } }, limited, { request: 500, limit: 600 });
  assert.equal(within(ANY, ANY), "app cpu 500m (limit 600m)");
  assert.equal(within(range(200), ANY), "app cpu 200m (limit 200m)");
  assert.equal(within(ANY, range(300)), "app cpu 300m (limit 300m)");
  // A value that was not asked to change lies outside: no other value helps.
  const memory = { container: range(32 * MI), pod: ANY };
  assert.equal(fitted({ ranges: { memory } }), "");
});

test("fitNewPod() takes no more of a quota than the whole pod leaves of it", () => {
  const quotas = (room: number, of: QuotaRoom["of"] = "requests") => ({
    quotas: [{ name: "q", resource: "cpu", of, room } as const],
  });
  assert.equal(fitted(quotas(500)), "app cpu 500m");
  assert.equal(fitted(quotas(499)), "app cpu 499m");
  // What it has without us takes all.
  assert.equal(fitted(quotas(100)), "app cpu 100m");
  assert.equal(fitted(quotas(-7)), "app cpu 100m");
  // A decrease takes nothing.
  assert.equal(
    fitted(quotas(0), [templateContainer({ requests: { cpu: 900 }, limits: { cpu: 900 } })]),
    "app cpu 500m",
  );
  assert.equal(fitted(quotas(0, "limits")), "app cpu 500m");
});

test("fitNewPod() asks for no more than the largest node has, and for what the template says at least", () => {
  const on = (allocatableCPU: number): string =>
    fitted({ largestNode: { allocatableCPU, allocatableMemory: Infinity } });
  assert.equal(on(500), "app cpu 500m");
  assert.equal(on(400), "app cpu 400m");
  assert.equal(on(50), "app cpu 100m");
});

test("fitNewPod() keeps the pod's class, and requests within its limits", () => {
  assert.equal(fitted({}, [templateContainer()]), "app cpu 200m");
  const same = { requests: { cpu: 100, memory: MI }, limits: { cpu: 100, memory: MI } };
  assert.equal(fitted({}, [bareContainer("app", same)]), "");
  assert.equal(fitted({}, [bareContainer("app", {})]), "");
});
