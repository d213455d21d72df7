import assert from "node:assert/strict";
import {
  asks,
  assertDecisions,
  type FactsChoice,
  IN_PLACE,
  LIMITS,
  MI,
  RECREATED,
  rightsizingFacts,
  sized,
  templateContainer,
  valuesOf,
  workloadPod,
} from "../../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import type { WantedResources } from "../../resize/inputs/resources.ts";
import { inPlacePlan } from "./method.ts";

const RECREATE = { allowRecreate: true };

pure("noMethod() leaves out what can't be done in place, or recreates", () => {
  const neither = { allowInPlaceResize: false, allowRecreate: false };
  const nodes = new Map([["node-1", { kubeletVersion: "v1.32.1", pressures: [] }]]);
  const windows = rightsizingFacts().pods.map((pod) => ({ ...pod, windows: true as const }));
  const restarts = { containers: [templateContainer({ restartsOnMemory: true })] };
  const there = templateContainer({ restartsOnMemory: true, requests: { memory: 96 * MI } });
  const locked = { strategy: LIMITS, lowersMemoryLimits: false };
  assertDecisions([
    [{ resizeServed: false, strategy: RECREATE }, RECREATED],
    [{ resizeServed: false }, "InPlaceResizeUnavailable"],
    [{ strategy: neither }, "MethodNotAllowed"],
    [{ nodes }, "InPlaceResizeUnavailable"],
    [{ nodes, strategy: RECREATE }, RECREATED],
    [{ pods: windows }, "InPlaceResizeUnavailable"],
    [restarts, "InPlace: app cpu 150m - RestartPolicy"],
    [{ ...restarts, strategy: RECREATE }, RECREATED],
    [{ ...restarts, ...asks(100, 96) }, "RestartPolicy - BelowThreshold"],
    [
      { ...restarts, ...asks(150, 64), strategy: RECREATE },
      "InPlace: app cpu 150m - BelowThreshold",
    ],
    // A pod has the value already.
    [{ ...restarts, pods: [workloadPod("web-1", [there])], strategy: RECREATE }, IN_PLACE],
    [locked, "InPlace: app cpu 150m (limit 180m) - MemoryLimitLocked"],
    [{ strategy: LIMITS }, "InPlace: app cpu 150m (limit 180m), app memory 96Mi (limit 112Mi)"],
    [
      { ...locked, ...asks(150, 120, { memoryLimit: 132 }) },
      "InPlace: app cpu 150m (limit 180m), app memory 120Mi (limit 132Mi)",
    ],
    [
      { ...locked, strategy: { ...LIMITS, ...RECREATE } },
      "Recreate: app cpu 150m (limit 180m), app memory 96Mi (limit 112Mi)",
    ],
  ]);
});

const WANTED: WantedResources = new Map([
  ["app", { requests: { cpu: 150, memory: 96 * MI }, limits: { cpu: 180 } }],
]);
const ONLY_MEMORY = new Map([["app", { requests: { memory: 96 * MI }, limits: {} }]]);

/** By pod what changes in its containers. */
function changesOf(choice: FactsChoice, wanted = WANTED): Readonly<Record<string, unknown>> {
  const { pods } = inPlacePlan(rightsizingFacts(choice), wanted);
  return Object.fromEntries(
    pods.map(({ pod: { metadata: { name } }, changes }) => [name, changes]),
  );
}

pure("inPlacePlan() changes each pod that differs, in what differs", () => {
  const half = templateContainer({ requests: { cpu: 150 }, limits: { cpu: 180 } });
  const pods = [
    workloadPod("old", [templateContainer(), templateContainer({ name: "log" })]),
    workloadPod("half", [half]),
    workloadPod("there", [{ ...half, requests: { cpu: 150, memory: 96 * MI } }]),
  ];
  const app = { name: "app", sidecar: false };
  assert.deepEqual(changesOf({ pods }), {
    old: [{ ...app, requests: { cpu: 150, memory: 96 * MI }, limits: { cpu: 180 } }],
    half: [{ ...app, requests: { memory: 96 * MI }, limits: {} }],
  });
});

pure("inPlacePlan() leaves out pods that would not fit on their node", () => {
  const pods = [
    workloadPod("short", [templateContainer()]),
    workloadPod("above", [templateContainer({ requests: { cpu: 200 } })]),
  ];
  const nodes = new Map([["node-1", { allocatableCPU: 149, pressures: [] }]]);
  assert.deepEqual(Object.keys(changesOf({ pods, nodes })), ["above"]);
  assert.deepEqual(Object.keys(changesOf({ pods, nodes }, ONLY_MEMORY)), ["short", "above"]);
});

pure("inPlacePlan() leaves CPU limits to the market where it owns them", () => {
  const of = (wanted: WantedResources, choice: FactsChoice = {}) => {
    const facts = rightsizingFacts({ marketManages: true, ...choice });
    const { originalLimits, pods: [first] } = inPlacePlan(facts, wanted);
    const [{ requests, limits } = { requests: {}, limits: {} }] = first?.changes ?? [];
    return { original: originalLimits.get("app"), requests, limits };
  };
  const memory = { memory: 96 * MI };
  assert.deepEqual(of(WANTED), { original: 180, requests: { cpu: 150, ...memory }, limits: {} });
  assert.deepEqual(of(ONLY_MEMORY), { original: undefined, requests: memory, limits: {} });
  const equal = { containers: [sized([200, 128], [200, 128])] };
  assert.deepEqual(of(valuesOf(sized([150, 96], [150, 96])), equal), {
    original: 150,
    requests: memory,
    limits: memory,
  });
  assert.equal(inPlacePlan(rightsizingFacts(), WANTED).originalLimits.size, 0);
});

pure("inPlacePlan() puts its values into force for new pods, and keeps those of before", () => {
  const log = { requests: { cpu: 20 }, limits: {} };
  const inForce = new Map([
    ["app", { requests: { cpu: 90 }, limits: { memory: 256 * MI } }],
    ["log", log],
  ]);
  const plan = inPlacePlan(rightsizingFacts({ inForce, pods: [] }), WANTED);
  assert.deepEqual([plan.pods, Object.fromEntries(plan.inForce)], [[], {
    app: { requests: { cpu: 150, memory: 96 * MI }, limits: { memory: 256 * MI, cpu: 180 } },
    log,
  }]);
});
