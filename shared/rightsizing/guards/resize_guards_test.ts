import assert from "node:assert/strict";
import {
  bareContainer,
  clampsOf,
  type FactsChoice,
  MI,
  outcomeOf,
  recommendation,
  rightsizingFacts,
  templateContainer,
  workloadPod,
} from "../../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import { sampleVPA } from "../../../tests/fixtures/sample_workloads.ts";
import type { NodePressure } from "../../api/node.ts";
import type { QuotaRoom } from "../../resize/checks/resource_quota.ts";
import type { AmountRange, ResourceRanges } from "../../resize/inputs/resize_input.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

test("verticalAutoscalerConflicts() leaves the workload to a VPA in any mode but Off", () => {
  for (const mode of ["Initial", "Recreate", "InPlaceOrRecreate", "Auto", "SomethingNew"]) {
    const held = outcomeOf({ verticalAutoscalers: [sampleVPA(mode)] });
    assert.match(held, /^VerticalAutoscalerConflicts VPAConflict: .*web-vpa, .*Deployment web$/);
    assert.ok(held.includes(mode), held);
  }
  assert.match(outcomeOf({ verticalAutoscalers: [sampleVPA("Off")] }), /^InPlace: app cpu 150m/);
});

test("verticalAutoscalerConflicts() lets CPU go on that the VPA does not control", () => {
  const cpuPolicies = [{ container: "*", controlled: false }];
  const verticalAutoscalers = [sampleVPA("Auto", { cpuPolicies })];
  assert.equal(outcomeOf({ verticalAutoscalers }), "InPlace: app cpu 150m");
});

const ANYTHING: AmountRange = { min: 0, max: Infinity, ratio: Infinity };
const LIMITS = { updateRequestsOnly: false };

function cpu(container: Partial<AmountRange>, pod: Partial<AmountRange> = {}): ResourceRanges {
  return { cpu: { container: { ...ANYTHING, ...container }, pod: { ...ANYTHING, ...pod } } };
}

function memory(container: Partial<AmountRange>, pod: Partial<AmountRange> = {}): ResourceRanges {
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
  const containers = [
    templateContainer(),
    templateContainer({ name: "log", limits: { cpu: 900 } }),
  ];
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
  const open = { ...templateContainer(), limits: { cpu: 200 } };
  const ranges = { defaults: ["limits.memory"] };
  const held = outcomeOf({ containers: [open], ranges });
  assert.match(held, /^OutsideRanges LimitRange: pod web-1: .* defaults .*app/);
  const strategy = { allowInPlaceResize: false, allowRecreate: true };
  assert.match(outcomeOf({ containers: [open], ranges, strategy }), /^Recreate: /);
  assert.match(outcomeOf({ ranges }), /^InPlace: /);
  assert.equal(rightsizingFacts().ranges, undefined);
});

function room(of: "requests" | "limits", amount: number): QuotaRoom {
  return { name: "q", resource: "cpu", of, room: amount };
}

test("overQuotas() cuts raises to what the quota leaves for all pods together", () => {
  assert.equal(
    outcomeOf({ quotas: [room("requests", 100)] }),
    "InPlace: app cpu 150m, app memory 96Mi",
  );
  assert.equal(
    outcomeOf({ quotas: [room("requests", 60)] }),
    "InPlace: app cpu 130m, app memory 96Mi",
  );
  assert.match(
    clampsOf({ quotas: [room("requests", 60)] }).join(),
    / QuotaExceeded: ResourceQuota q .*60m of requests\.cpu .*100m .*2 pods/,
  );
});

test("overQuotas() heeds quotas on limits and on memory, and cuts a request with its limit", () => {
  const recommendations = [recommendation({ cpu: 300, cpuLimit: 400 })];
  assert.equal(
    outcomeOf({ recommendations, strategy: LIMITS, quotas: [room("limits", 100)] }),
    "InPlace: app cpu 250m (limit 250m), app memory 96Mi (limit 112Mi)",
  );
  const memory: QuotaRoom = { name: "q", resource: "memory", of: "requests", room: 32 * MI };
  assert.equal(outcomeOf({ quotas: [memory] }), "InPlace: app cpu 150m, app memory 80Mi");
});

test("overQuotas() lets decreases pass, and holds where nothing else is left", () => {
  const less = [recommendation({ cpu: 50, memory: 32 * MI })];
  const quotas = [room("requests", -500)];
  assert.equal(
    outcomeOf({ recommendations: less, quotas }),
    "InPlace: app cpu 50m, app memory 32Mi",
  );
  const more = [recommendation({ memory: 64 * MI })];
  assert.match(
    outcomeOf({ recommendations: more, quotas }),
    /^OverQuotas QuotaExceeded: .* 0 of requests\.cpu /,
  );
});

test("overQuotas() counts the replicas of a workload with a changed template", () => {
  const { workload } = rightsizingFacts();
  const strategy = { allowInPlaceResize: false, allowRecreate: true };
  const five = { workload: { ...workload, replicas: 5 }, strategy };
  assert.equal(
    outcomeOf({ ...five, quotas: [room("requests", 100)] }),
    "Recreate: app cpu 120m, app memory 96Mi",
  );
  assert.match(outcomeOf({ ...five, quotas: [room("requests", 250)] }), /app cpu 150m/);
});

const open = { ...templateContainer(), limits: {} };
const containers = [open, { ...open, name: "log" }];

/** On a node of so much. */
function on(allocatableCPU: number, allocatableMemory: number): FactsChoice {
  const node = { allocatableCPU, allocatableMemory, pressures: [] };
  return {
    containers,
    nodes: new Map([["node-1", node]]),
    recommendations: [
      recommendation({ cpu: 900, memory: 264 * MI }),
      recommendation({ container: "log", cpu: 500, memory: 64 * MI }),
    ],
  };
}

test("overNodes() cuts the raises of a pod to what its node has", () => {
  assert.equal(
    outcomeOf(on(1400, 1024 * MI)),
    "InPlace: app cpu 900m, app memory 264Mi, log cpu 500m",
  );
  assert.equal(
    outcomeOf(on(800, 1024 * MI)),
    "InPlace: app cpu 500m, app memory 264Mi, log cpu 300m",
  );
  assert.equal(
    outcomeOf(on(1400, 228 * MI)),
    "InPlace: app cpu 900m, app memory 164Mi, log cpu 500m",
  );
  assert.match(
    clampsOf(on(800, 1024 * MI)).join(),
    /OverNodes NodeCapacity: .*node-1 .*800m .*cpu, .*web-1 .*1400m/,
  );
});

test("overNodes() takes back what is in force and can't be had, and no request below the template's", () => {
  const inForce = new Map([["app", { requests: { cpu: 900 }, limits: {} }], ["log", {
    requests: { cpu: 500 },
    limits: {},
  }]]);
  const pods = [
    workloadPod("web-1", [{ ...open, requests: { ...open.requests, cpu: 900 } }, {
      ...open,
      name: "log",
      requests: { ...open.requests, cpu: 500 },
    }]),
  ];
  assert.match(
    outcomeOf({ ...on(800, 1024 * MI), inForce, pods }),
    /^InPlace: app cpu 500m, .*log cpu 300m$/,
  );
  assert.match(
    outcomeOf({ ...on(150, 1024 * MI), inForce, pods }),
    /^InPlace: app cpu 100m, .*log cpu 100m$/,
  );
});

test("overNodes() cuts nothing for a pod that lacks what is in force, and reports it", () => {
  const inForce = new Map([["app", { requests: { cpu: 900 }, limits: {} }], ["log", {
    requests: { cpu: 500 },
    limits: {},
  }]]);
  const there = [{ ...open, requests: { ...open.requests, cpu: 900 } }, {
    ...open,
    name: "log",
    requests: { ...open.requests, cpu: 500 },
  }];
  const late = { ...workloadPod("late", containers), nodeName: "small" };
  const small = { allocatableCPU: 800, pressures: [] };
  const choice = {
    ...on(2000, 1024 * MI),
    inForce,
    pods: [workloadPod("web-1", there), late],
  };
  const nodes = new Map([...choice.nodes ?? [], ["small", small]]);
  assert.equal(outcomeOf({ ...choice, nodes }), "InPlace: app memory 264Mi");
  assert.match(
    clampsOf({ ...choice, nodes }).join(),
    /NodeCapacity: .*small .*800m .*cpu, .*late .*1400m, .*stays/,
  );
});

test("overNodes() asks the largest node for those to come, and for the template", () => {
  const largestNode = { allocatableCPU: 800, allocatableMemory: Infinity };
  const choice = { ...on(0, 0), largestNode };
  const cut = "app cpu 500m, app memory 264Mi, log cpu 300m";
  assert.equal(outcomeOf({ ...choice, pods: [] }), `InPlace: ${cut}`);
  const strategy = { allowInPlaceResize: false, allowRecreate: true };
  assert.equal(outcomeOf({ ...choice, strategy }), `Recreate: ${cut}`);
  assert.match(clampsOf(choice).join(), / NodeCapacity: .*largest .*800m .*cpu, new pods /);
});

test("overNodes() ignores nodes without known allocatable, and pods that are recreated", () => {
  const all = "app cpu 900m, app memory 264Mi, log cpu 500m";
  assert.equal(outcomeOf({ ...on(0, 0), nodes: new Map() }), `InPlace: ${all}`);
  assert.equal(outcomeOf(on(0, 0)), `InPlace: ${all}`);
  const strategy = { allowInPlaceResize: false, allowRecreate: true };
  assert.equal(outcomeOf({ ...on(800, 1024 * MI), strategy }), `Recreate: ${all}`);
});

const guaranteed = templateContainer({ requests: { cpu: 200, memory: 128 * MI } });

test("qosWouldChange() moves request and limit of Guaranteed pods together, or not at all", () => {
  assert.equal(
    outcomeOf({ containers: [guaranteed], strategy: LIMITS }),
    "InPlace: app cpu 150m (limit 150m), app memory 96Mi (limit 96Mi)",
  );
  assert.match(
    outcomeOf({ containers: [guaranteed] }),
    /^QoSWouldChange QoSWouldChange: .*app cpu .*together.*; .*app memory .*together/,
  );
  assert.match(outcomeOf({ containers: [templateContainer()] }), /^InPlace: /);
});

test("qosWouldChange() keeps a Burstable pod's last request a unit below its limit", () => {
  const containers = [templateContainer({ requests: { memory: 128 * MI } })];
  const recommendations = [recommendation({ cpu: 500, memory: 128 * MI })];
  assert.equal(outcomeOf({ containers, recommendations }), "InPlace: app cpu 199m");
  assert.match(clampsOf({ containers, recommendations }).join(), /: pod web-1 .*Guaranteed: /);
  const other = [...containers, templateContainer({ name: "log" })];
  assert.equal(outcomeOf({ containers: other, recommendations }), "InPlace: app cpu 200m");
});

test("qosWouldChange() gives BestEffort pods nothing", () => {
  assert.match(
    outcomeOf({ containers: [bareContainer("app", {})] }),
    /^QoSWouldChange QoSWouldChange: pod web-1 .*BestEffort to Burstable$/,
  );
});

test("qosWouldChange() has nothing to say where the pod's own resources make the class", () => {
  const podLevel = {
    requests: { cpu: 400, memory: 512 * MI },
    limits: { cpu: 400, memory: 512 * MI },
  };
  const facts = rightsizingFacts();
  const template = { ...facts.workload.template, podLevel };
  const workload = { ...facts.workload, template };
  const pods = facts.pods.map((pod) => ({ ...pod, podLevel, qosClass: "Guaranteed" as const }));
  assert.equal(outcomeOf({ workload, pods }), "InPlace: app cpu 150m, app memory 96Mi");
});

test("qosWouldChange() leaves the CPU of a Guaranteed pod of the market to its original limit", () => {
  assert.equal(
    outcomeOf({ containers: [guaranteed], strategy: LIMITS, marketManages: true }),
    "InPlace: app cpu 150m (limit 150m), app memory 96Mi (limit 96Mi)",
  );
});

test("qosWouldChange() counts what is in force beside the template that a rollout writes", () => {
  const containers = [templateContainer(), templateContainer({ name: "log" })];
  const equal = { cpu: 150, cpuLimit: 150, memory: 96 * MI, memoryLimit: 96 * MI };
  const rollout = {
    containers,
    strategy: { ...LIMITS, allowInPlaceResize: false, allowRecreate: true },
    recommendations: [recommendation({ container: "log", ...equal })],
  };
  assert.equal(
    outcomeOf(rollout),
    "Recreate: log cpu 150m (limit 150m), log memory 96Mi (limit 96Mi)",
  );
  const whole = { requests: { cpu: 150, memory: 96 * MI }, limits: { cpu: 150, memory: 96 * MI } };
  const beside = { ...rollout, inForce: new Map([["app", whole]]) };
  assert.equal(
    outcomeOf(beside),
    "Recreate: log cpu 149m (limit 150m), log memory 96Mi (limit 96Mi)",
  );
  assert.match(clampsOf(beside).join(), /new pods .*Guaranteed: /);
});

const nodes = (...pressures: NodePressure[]) => new Map([["node-1", { pressures }]]);

test("nodeUnderPressure() leaves out raises on a node that is short of something, and names it", () => {
  for (const pressure of ["MemoryPressure", "DiskPressure", "PIDPressure"] as const) {
    const [cpu, memory, ...more] = outcomeOf({ nodes: nodes(pressure) }).split("; ");
    assert.match(cpu ?? "", /^NodeUnderPressure NodePressure: .*app cpu: .*node-1 /);
    assert.match(memory ?? "", /app memory: .*node-1 /);
    assert.ok(cpu?.endsWith(pressure) && memory?.endsWith(pressure));
    assert.deepEqual(more, []);
  }
  assert.match(outcomeOf({ nodes: nodes() }), /^InPlace: /);
  assert.match(outcomeOf({ nodes: new Map() }), /^InPlace: /);
});

test("nodeUnderPressure() lets decreases go on", () => {
  const recommendations = [recommendation({ cpu: 150, memory: 32 * MI })];
  assert.equal(
    outcomeOf({ recommendations, nodes: nodes("MemoryPressure") }),
    "InPlace: app memory 32Mi",
  );
});

test("nodeUnderPressure() takes a higher limit for a raise, also beside a lower request", () => {
  const recommendations = [
    recommendation({ cpu: 80, cpuLimit: 300, memory: 32 * MI, memoryLimit: 64 * MI }),
  ];
  const strategy = { updateRequestsOnly: false };
  assert.equal(
    outcomeOf({ recommendations, strategy, nodes: nodes("PIDPressure") }),
    "InPlace: app memory 32Mi (limit 64Mi)",
  );
});

test("nodeUnderPressure() holds raises by recreation, too", () => {
  const strategy = { allowInPlaceResize: false, allowRecreate: true };
  assert.match(outcomeOf({ strategy, nodes: nodes("DiskPressure") }), /^NodeUnderPressure /);
});
