import assert from "node:assert/strict";
import type { AdmissionRequest } from "../../shared/admission/admission_review.ts";
import { silentLog } from "../../shared/log.ts";
import type {
  PlacementDecision,
  PlacementRequest,
} from "../../shared/placement/placement_request.ts";
import { createVirtualClock } from "../../simulation/virtual_clock.ts";
import { handCopies, PLACEMENT_RULES, podRequest } from "../../tests/fixtures/placement_copies.ts";
import { createCopiedFacts } from "./copied_facts.ts";
import { createPlacementMutator } from "./placement_mutator.ts";
import type { PlacementFact } from "./placement_observer.ts";

const SIGNAL = new AbortController().signal;
const SPOT: PlacementDecision = { class: "spot", deletionCost: -2 };

function stage(decision: PlacementDecision | Error, { readOnly = false } = {}) {
  const facts: PlacementFact[] = [];
  const asked: PlacementRequest[] = [];
  const copies = handCopies();
  const mutator = createPlacementMutator({
    facts: createCopiedFacts(copies, { rules: () => PLACEMENT_RULES }),
    counter: {
      decide(pod) {
        asked.push(pod);
        return decision instanceof Error ? Promise.reject(decision) : Promise.resolve(decision);
      },
    },
    rules: () => ({ ...PLACEMENT_RULES, readOnly }),
    observer: { answered: (fact) => facts.push(fact) },
    clock: createVirtualClock({ wallStart: 0 }),
    log: silentLog,
  });
  return {
    asked,
    copies,
    mutate: async (request: AdmissionRequest) => await mutator.mutate(request, SIGNAL),
    results: () => facts.map(({ result, class: to }) => to === undefined ? result : [result, to]),
  };
}

Deno.test("createPlacementMutator() writes selector, label and cost into the pod", async () => {
  const { mutate, results } = stage(SPOT);
  const mutation = await mutate(podRequest("1"));
  assert.deepEqual(mutation?.patch, [
    { op: "add", path: "/spec/nodeSelector", value: { "karpenter.sh/capacity-type": "spot" } },
    { op: "add", path: "/metadata/labels/spotalis.io~1capacity", value: "spot" },
    {
      op: "add",
      path: "/metadata/annotations",
      value: { "controller.kubernetes.io/pod-deletion-cost": "-2" },
    },
  ]);
  assert.deepEqual(results(), [["Placed", "spot"]]);
});

Deno.test("createPlacementMutator() asks nothing about what is no new pod of a controller", async () => {
  const { mutate, asked, results } = stage(SPOT);
  assert.equal(await mutate({ ...podRequest("1"), operation: "UPDATE" }), undefined);
  assert.equal(await mutate({ ...podRequest("1"), resource: "pods/eviction" }), undefined);
  assert.equal(await mutate({ ...podRequest("1"), object: { metadata: {} } }), undefined);
  assert.deepEqual([asked.length, results()], [0, []]);
});

Deno.test("createPlacementMutator() leaves the pod, counts why, and hands a warning on", async () => {
  const plain = stage({ unplaced: "NoLeader" });
  assert.equal(await plain.mutate(podRequest("1")), undefined);
  assert.deepEqual(plain.results(), ["NoLeader"]);
  const wrong = stage({ unplaced: "ConfigurationError", warning: "it is wrong" });
  assert.deepEqual(await wrong.mutate(podRequest("1")), { patch: [], warnings: ["it is wrong"] });
  assert.deepEqual(wrong.results(), ["ConfigurationError"]);
});

Deno.test("createPlacementMutator() leaves the pod where something breaks", async () => {
  const broken = stage(new RangeError("a fault"));
  assert.equal(await broken.mutate(podRequest("1")), undefined);
  const odd = stage(SPOT);
  const { object, ...request } = podRequest("1");
  assert.equal(await odd.mutate({ ...request, object: { ...object, spec: 1 } }), undefined);
  assert.deepEqual([broken.results(), odd.results()], [["Failed"], ["Failed"]]);
});

Deno.test("createPlacementMutator() tells where a pod would go when it may only read", async () => {
  const { mutate, results } = stage(SPOT, { readOnly: true });
  assert.equal(await mutate(podRequest("1")), undefined);
  assert.deepEqual(results(), [["ReadOnly", "spot"]]);
});

Deno.test("createPlacementMutator() says of a pod that its own affinity names its class", async () => {
  const { mutate, asked } = stage({ unplaced: "NodesBound" });
  await mutate(podRequest("1", { spec: affinityTo("karpenter.sh/capacity-type", "spot") }));
  await mutate(podRequest("2", { spec: affinityTo("zone", "spot") }));
  assert.deepEqual(asked.map(({ bound, only }) => [bound, only]), [
    [true, undefined],
    [undefined, undefined],
  ]);
});

Deno.test("createPlacementMutator() tells of a pod's hosts the class that all of them are of", async () => {
  const { mutate, asked, copies } = stage({ unplaced: "NodesBound" });
  for (const [name, one] of [["s0", "spot"], ["s1", "spot"], ["o0", "on-demand"]] as const) {
    const labels = { "karpenter.sh/capacity-type": one };
    copies.nodes.put({ metadata: { name, uid: name, resourceVersion: "1" }, labels });
  }
  const told = async (...hosts: readonly string[]) => {
    await mutate(podRequest("1", { spec: affinityTo("kubernetes.io/hostname", ...hosts) }));
    const { bound, only } = asked.at(-1)!;
    return { bound, only };
  };
  assert.deepEqual(await told("s0", "s1"), { bound: undefined, only: "spot" });
  assert.deepEqual(await told("o0", "gone"), { bound: undefined, only: "on-demand" });
  assert.deepEqual(await told("s0", "o0"), { bound: undefined, only: undefined });
  // Where the node is, nobody knows.
  assert.deepEqual(await told("gone"), { bound: true, only: undefined });
});

function affinityTo(key: string, ...values: readonly string[]) {
  const nodeSelectorTerms = [{ matchExpressions: [{ key, operator: "In", values }] }];
  const requiredDuringSchedulingIgnoredDuringExecution = { nodeSelectorTerms };
  return { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution } } };
}
