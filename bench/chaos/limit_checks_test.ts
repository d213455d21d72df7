import assert from "node:assert/strict";
import type { Pod, PodContainer } from "../../shared/api/pod.ts";
import { newPod } from "../../tests/faults/cluster_load.ts";
import { type Baseline, limitFaults, notCarried, type PodChange } from "./limit_checks.ts";

const test = (name: string, fn: () => void): void => Deno.test({ name, permissions: "none", fn });

const BASELINE: Baseline = {
  limits: new Map([["app", 300]]),
  qosClass: "Burstable",
  managed: true,
};

function podWith(container: Partial<PodContainer>): Pod {
  const load = { node: "n", request: 100, limit: 300, priority: 0, threads: 1, load: [] };
  const pod = newPod({ namespace: "shop", name: "web", ...load });
  return { ...pod, containers: pod.containers.map((one) => ({ ...one, ...container })) };
}

function promises(container: Partial<PodContainer>, rest: Partial<PodChange> = {}): string[] {
  const change = { pod: podWith(container), baseline: BASELINE, optedOut: false, ...rest };
  return limitFaults(change).map(({ promise }) => promise);
}

const RAISED = { limitCPU: 900, limitManagers: ["mbcas/300m"] };

test("limitFaults() passes the user's own limit and those of the market within the ceiling", () => {
  for (const limitCPU of [100, 300, 2400]) {
    assert.deepEqual(promises({ limitCPU, limitManagers: ["mbcas/300m"] }), []);
  }
});

test("limitFaults() reports each broken promise by its name", () => {
  assert.deepEqual(promises({ limitCPU: 99 }), ["LimitBelowRequest"]);
  assert.deepEqual(promises({ limitCPU: 2401 }), ["Ceiling"]);
  const unmanaged = { ...BASELINE, managed: false };
  assert.deepEqual(promises(RAISED, { baseline: unmanaged }), ["Unmanaged"]);
  assert.deepEqual(promises({}, { pod: { ...podWith({}), qosClass: "BestEffort" } }), ["QoS"]);
  const guaranteed = { limitCPU: 100, limitMemory: 1, requestMemory: 1 };
  assert.deepEqual(promises(guaranteed), ["QoS"]);
});

test("limitFaults() refuses another limit of the market's after the opt-out, not one that stays", () => {
  const optedOut = { optedOut: true, previous: podWith({ limitCPU: 300 }) };
  assert.deepEqual(promises(RAISED, optedOut), ["OptedOut"]);
  assert.deepEqual(promises(RAISED, { ...optedOut, previous: podWith(RAISED) }), []);
  assert.deepEqual(promises({ limitCPU: 300 }, { ...optedOut, previous: podWith(RAISED) }), []);
});

test("notCarried() names the containers whose own limit the pod does not have", () => {
  const carried = (container: Partial<PodContainer>): string[] =>
    notCarried(podWith(container), BASELINE);
  assert.deepEqual(carried({}), []);
  assert.deepEqual(carried(RAISED), []);
  assert.deepEqual(carried({ ...RAISED, limitManagers: ["mbcas"] }), ["app"]);
  assert.deepEqual(carried({ ...RAISED, limitManagers: ["mbcas/200m"] }), ["app"]);
});
