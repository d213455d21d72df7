import assert from "node:assert/strict";
import {
  type PlacementRequest,
  placementRequest,
} from "../../shared/placement/placement_request.ts";
import { createVirtualClock } from "../../simulation/virtual_clock.ts";
import {
  handCopies,
  PLACEMENT_RULES,
  podRequest,
  SHOP,
  WEB_SET,
} from "../../tests/fixtures/placement_copies.ts";
import { createCopiedFacts } from "./copied_facts.ts";
import { type AdmissionGate, admissionGate, untilKnown } from "./admission_gate.ts";

function stage(spec: Parameters<typeof podRequest>[1] = {}) {
  const copies = handCopies();
  const request = placementRequest(podRequest("1", spec));
  assert.ok(request !== undefined);
  const facts = createCopiedFacts(copies, { rules: () => PLACEMENT_RULES });
  return {
    copies,
    gate: () => admissionGate(request, { facts, ...PLACEMENT_RULES }),
    ask: (more: Partial<PlacementRequest>) =>
      admissionGate({ ...request, ...more }, { facts, ...PLACEMENT_RULES }),
    wait: (options: Parameters<typeof untilKnown>[2]) => untilKnown(request, facts, options),
  };
}

const onlyOf = (gate: AdmissionGate) => "only" in gate ? gate.only : undefined;

Deno.test("admissionGate() answers with the wish of a workload that takes part", () => {
  const answer = stage().gate();
  assert.deepEqual(answer.wish, { spotPercentage: 70, minOnDemand: 0, paused: false });
});

Deno.test("admissionGate() says no to a namespace that opts out, and nothing where it is not known", () => {
  const { gate, copies } = stage();
  const { metadata } = SHOP;
  copies.namespaces.put({
    metadata: { ...metadata, labels: { "spotalis.io/enabled": "false" } },
  });
  assert.deepEqual(gate(), { unplaced: "NotPlaced" });
  copies.namespaces.remove(SHOP);
  assert.deepEqual(gate(), { unplaced: "CopyBehind" });
});

Deno.test("admissionGate() leaves a pod with a volume that no class reaches, else tells which it is", () => {
  const { gate, ask, copies } = stage({
    spec: { volumes: [{ name: "d", persistentVolumeClaim: { claimName: "data" } }] },
  });
  const isPlaced = () => gate().wish !== undefined;
  // A claim without a volume gets one where its first pod runs.
  assert.ok(isPlaced());
  const metadata = { name: "pv", uid: "pv", resourceVersion: "1" };
  const onto = (key: string, value: string) => {
    const term = [{ key, operator: "In", values: [value] }] as const;
    copies.volumes.put({ metadata, claim: "shop/data", nodes: [term] });
  };
  onto("zone", "a");
  assert.deepEqual([isPlaced(), onlyOf(gate())], [true, undefined]);
  assert.deepEqual(onlyOf(ask({ only: "on-demand" })), "on-demand");
  onto("karpenter.sh/capacity-type", "spot");
  assert.deepEqual([isPlaced(), onlyOf(gate())], [true, "spot"]);
  // Its affinity names hosts of the other class, or it names its class itself.
  assert.deepEqual(ask({ only: "on-demand" }), { unplaced: "NodesBound" });
  assert.deepEqual(ask({ bound: true }), { unplaced: "NodesBound" });
  onto("kubernetes.io/hostname", "gone");
  assert.deepEqual(gate(), { unplaced: "NodesBound" });
  copies.namespaces.put({
    metadata: { ...SHOP.metadata, labels: { "spotalis.io/enabled": "false" } },
  });
  assert.deepEqual(gate(), { unplaced: "NotPlaced" });
});

Deno.test("untilKnown() ends when the owner is known, the time is over, or nobody waits", async () => {
  const clock = createVirtualClock({ wallStart: 0 });
  const { copies, wait } = stage();
  const gone = new AbortController();
  await wait({ clock, signal: gone.signal, withinMs: 50 });
  assert.equal(clock.monotonic(), 0);
  copies.replicaSets.remove(WEB_SET);
  const ended: string[] = [];
  const waits = [
    wait({ clock, signal: gone.signal, withinMs: 500 }).then(() => ended.push("gone")),
    wait({ clock, signal: new AbortController().signal, withinMs: 20 }).then(() =>
      ended.push("late")
    ),
    wait({ clock, signal: new AbortController().signal, withinMs: 500 }).then(() =>
      ended.push("known")
    ),
  ];
  await clock.runUntil(20);
  assert.deepEqual(ended, ["late"]);
  gone.abort();
  await clock.runUntil(30);
  assert.deepEqual(ended, ["late", "gone"]);
  copies.namespaces.put(SHOP);
  await clock.runUntil(40);
  assert.deepEqual(ended, ["late", "gone"]);
  copies.replicaSets.put(WEB_SET);
  await Promise.all(waits);
  assert.deepEqual(ended, ["late", "gone", "known"]);
});
