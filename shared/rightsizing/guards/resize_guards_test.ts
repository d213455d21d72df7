import {
  asking,
  asks,
  assertDecisions,
  bareContainer,
  type FactsChoice,
  IN_PLACE,
  LIMITS,
  MI,
  recommendation,
  RECREATE,
  RECREATED,
  rightsizingFacts,
  sized,
  templateContainer,
  valuesOf,
  workloadPod,
} from "../../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import type { NodePressure } from "../../api/node.ts";
import type { QuotaRoom } from "../../resize/checks/resource_quota.ts";
import type { AmountRange, ResourceRanges } from "../../resize/inputs/resize_input.ts";

const { workload } = rightsizingFacts();
const log = templateContainer({ name: "log" });
const both = [templateContainer(), log];
const ANYTHING: AmountRange = { min: 0, max: Infinity, ratio: Infinity };

function range(
  resource: "cpu" | "memory",
  container: Partial<AmountRange>,
  pod: Partial<AmountRange> = {},
): { readonly ranges: ResourceRanges } {
  const both = { container: { ...ANYTHING, ...container }, pod: { ...ANYTHING, ...pod } };
  return { ranges: { [resource]: both } };
}

pure("outsideRanges() clamps into LimitRanges, or holds", () => {
  const much = { ...asks(500, 8, { cpuLimit: 600, memoryLimit: 9 }), strategy: LIMITS };
  const ratio = asks(40, 96, { cpuLimit: 90 });
  const wide = ["app", "log"].map((container) =>
    asking(150, 96, { container, cpuLimit: 300, memoryLimit: 128 })
  );
  const large = [templateContainer(), templateContainer({ name: "log", limits: { cpu: 900 } })];
  const open = { containers: [sized([100, 64], [200])], ranges: { defaults: ["limits.memory"] } };
  assertDecisions([
    [range("cpu", { min: 10, max: 300 }), IN_PLACE],
    [
      { ...much, ...range("cpu", { max: 300 }) },
      "InPlace: app cpu 300m (limit 300m), app memory 8Mi (limit 9Mi) - LimitRange",
    ],
    [
      { ...much, ...range("memory", { min: 32 * MI }) },
      "InPlace: app cpu 500m (limit 600m), app memory 32Mi (limit 32Mi) - LimitRange",
    ],
    [
      { ...ratio, ...range("cpu", { ratio: 4 }) },
      "InPlace: app cpu 50m, app memory 96Mi - LimitRange",
    ],
    [
      { ...ratio, strategy: LIMITS, ...range("cpu", { ratio: 2 }) },
      "InPlace: app cpu 40m (limit 80m), app memory 96Mi (limit 112Mi) - LimitRange",
    ],
    [
      {
        containers: both,
        recommendations: wide,
        strategy: LIMITS,
        ...range("cpu", {}, { max: 500 }),
      },
      "InPlace: app cpu 150m (limit 250m), app memory 96Mi (limit 128Mi), log cpu 150m (limit 250m), log memory 96Mi (limit 128Mi) - LimitRange",
    ],
    [
      { containers: both, ...range("memory", {}, { max: 256 * MI }) },
      `${IN_PLACE}, log cpu 150m, log memory 96Mi`,
    ],
    [
      { containers: large, recommendations: [recommendation()], ...range("cpu", { max: 500 }) },
      "LimitRange",
    ],
    [range("memory", {}, { min: 1024 * MI }), "LimitRange"],
    [
      { containers: large, ...range("cpu", { max: 900 }) },
      `${IN_PLACE}, log cpu 150m, log memory 96Mi`,
    ],
    // A resize would let the server write defaults into the pod, which recreation need not fear.
    [open, "LimitRange"],
    [{ ...open, strategy: RECREATE }, RECREATED],
    [{ ranges: open.ranges }, IN_PLACE],
  ]);
});

pure("overQuotas() cuts raises to what the quotas leave for all pods together", () => {
  const room = (of: QuotaRoom["of"], amount: number, resource: QuotaRoom["resource"] = "cpu") => ({
    quotas: [{ name: "q", resource, of, room: amount }],
  });
  const five = { workload: { ...workload, replicas: 5 }, strategy: RECREATE };
  assertDecisions([
    [room("requests", 100), IN_PLACE],
    [room("requests", 60), "InPlace: app cpu 130m, app memory 96Mi - QuotaExceeded"],
    [
      { ...asks(300, 96, { cpuLimit: 400 }), strategy: LIMITS, ...room("limits", 100) },
      "InPlace: app cpu 250m (limit 250m), app memory 96Mi (limit 112Mi) - QuotaExceeded - RequestAboveLimit",
    ],
    [room("requests", 32 * MI, "memory"), "InPlace: app cpu 150m, app memory 80Mi - QuotaExceeded"],
    [{ ...asks(50, 32), ...room("requests", -500) }, "InPlace: app cpu 50m, app memory 32Mi"],
    [{ ...asks(150, 64), ...room("requests", -500) }, "QuotaExceeded - QuotaExceeded"],
    [
      { ...five, ...room("requests", 100) },
      "Recreate: app cpu 120m, app memory 96Mi - QuotaExceeded",
    ],
    [{ ...five, ...room("requests", 250) }, RECREATED],
  ]);
});

pure("overNodes() cuts raises to what the node has, or the largest one for pods to come", () => {
  const containers = [sized([100, 64]), sized([100, 64], [], { name: "log" })];
  const on = (allocatableCPU: number, allocatableMemory: number): FactsChoice => ({
    containers,
    nodes: new Map([["node-1", { allocatableCPU, allocatableMemory, pressures: [] }]]),
    recommendations: [asking(900, 264), asking(500, 64, { container: "log" })],
  });
  const all = "app cpu 900m, app memory 264Mi, log cpu 500m";
  const cut = "app cpu 500m, app memory 264Mi, log cpu 300m - NodeCapacity - BelowThreshold";
  const there = [sized([900, 64]), sized([500, 64], [], { name: "log" })];
  const inForce = new Map([
    ["app", { requests: { cpu: 900 }, limits: {} }],
    ["log", { requests: { cpu: 500 }, limits: {} }],
  ]);
  const pods = [workloadPod("web-1", there)];
  const late = { ...workloadPod("late", containers), nodeName: "small" };
  const largest = {
    ...on(0, 0),
    largestNode: { allocatableCPU: 800, allocatableMemory: Infinity },
  };
  assertDecisions([
    [on(1400, 1024 * MI), `InPlace: ${all} - BelowThreshold`],
    [on(800, 1024 * MI), `InPlace: ${cut}`],
    [
      on(1400, 228 * MI),
      "InPlace: app cpu 900m, app memory 164Mi, log cpu 500m - NodeCapacity - BelowThreshold",
    ],
    // What is in force and can't be had is taken back, no request below the template's.
    [{ ...on(800, 1024 * MI), inForce, pods }, `InPlace: ${cut}`],
    [
      { ...on(150, 1024 * MI), inForce, pods },
      "InPlace: app cpu 100m, app memory 264Mi, log cpu 100m - NodeCapacity - BelowThreshold",
    ],
    // A pod that lacks what is in force cuts nothing for the others.
    [
      {
        ...on(2000, 1024 * MI),
        inForce,
        pods: [...pods, late],
        nodes: new Map([["small", { allocatableCPU: 800, pressures: [] }]]),
      },
      "InPlace: app memory 264Mi - NodeCapacity - BelowThreshold",
    ],
    [{ ...largest, pods: [] }, `InPlace: ${cut}`],
    [{ ...largest, strategy: RECREATE }, `Recreate: ${cut}`],
    [{ ...on(0, 0), nodes: new Map() }, `InPlace: ${all} - BelowThreshold`],
    [on(0, 0), `InPlace: ${all} - BelowThreshold`],
    [{ ...on(800, 1024 * MI), strategy: RECREATE }, `Recreate: ${all} - BelowThreshold`],
  ]);
});

const guaranteed = [sized([200, 128], [200, 128])];
const EQUAL = "InPlace: app cpu 150m (limit 150m), app memory 96Mi (limit 96Mi)";

pure("qosWouldChange() keeps the class of each pod, and of those to come", () => {
  const almost = [templateContainer({ requests: { memory: 128 * MI } })];
  const whole = { cpu: 400, memory: 512 * MI };
  const podLevel = { requests: whole, limits: whole };
  const template = { ...workload.template, podLevel };
  const pods = rightsizingFacts().pods.map((pod) => ({
    ...pod,
    podLevel,
    qosClass: "Guaranteed" as const,
  }));
  const equal = { container: "log", cpuLimit: 150, memoryLimit: 96 };
  const rollout = {
    containers: both,
    strategy: { ...LIMITS, ...RECREATE },
    recommendations: [asking(150, 96, equal)],
  };
  assertDecisions([
    [{ containers: guaranteed, strategy: LIMITS }, `${EQUAL} - QoSWouldChange`],
    [{ containers: guaranteed }, "QoSWouldChange"],
    [
      { containers: guaranteed, strategy: LIMITS, marketManages: true },
      `${EQUAL} - QoSWouldChange`,
    ],
    [
      { containers: almost, ...asks(500, 128) },
      "InPlace: app cpu 199m - QoSWouldChange - BelowThreshold",
    ],
    [
      { containers: [...almost, log], ...asks(500, 128) },
      "InPlace: app cpu 200m - RequestAboveLimit - BelowThreshold",
    ],
    [{ containers: [bareContainer("app", {})] }, "QoSWouldChange"],
    [{ workload: { ...workload, template }, pods }, IN_PLACE],
    [rollout, "Recreate: log cpu 150m (limit 150m), log memory 96Mi (limit 96Mi)"],
    // What is in force beside the template that a rollout writes.
    [
      { ...rollout, inForce: valuesOf(sized([150, 96], [150, 96])) },
      "Recreate: log cpu 149m (limit 150m), log memory 96Mi (limit 96Mi) - QoSWouldChange",
    ],
  ]);
});

pure("nodeUnderPressure() leaves out raises on a node under pressure", () => {
  const nodes = (...pressures: NodePressure[]) => ({ nodes: new Map([["node-1", { pressures }]]) });
  const limit = asks(80, 32, { cpuLimit: 300, memoryLimit: 64 });
  assertDecisions([
    ...(["MemoryPressure", "DiskPressure", "PIDPressure"] as const)
      .map((pressure) => [nodes(pressure), "NodePressure"] as const),
    [nodes(), IN_PLACE],
    [{ nodes: new Map() }, IN_PLACE],
    [{ ...asks(150, 32), ...nodes("MemoryPressure") }, "InPlace: app memory 32Mi - NodePressure"],
    [
      { ...limit, strategy: LIMITS, ...nodes("PIDPressure") },
      "InPlace: app memory 32Mi (limit 64Mi) - NodePressure",
    ],
    [{ strategy: RECREATE, ...nodes("DiskPressure") }, "NodePressure"],
  ]);
});
