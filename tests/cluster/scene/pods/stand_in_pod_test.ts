import assert from "node:assert/strict";
import { parsePod } from "../../../../adapters/kube/kinds/pods.ts";
import { parseStandInPod, runningStatus, standInStep } from "./stand_in_pod.ts";

const identity = { name: "web-1", namespace: "shop", uid: "u1", resourceVersion: "7" };
const spec = { nodeName: "z-spot", containers: [{ name: "app", image: "busybox:stable" }] };
const gone = { deletionTimestamp: "2026-01-01T00:00:00Z" };

function stepOf(raw: unknown): string {
  return standInStep(parseStandInPod(raw));
}

function standInTest(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

standInTest("standInStep() starts a bound pod once", () => {
  assert.equal(stepOf({ metadata: identity, spec }), "start");
  assert.equal(stepOf({ metadata: identity, spec, status: { phase: "Pending" } }), "start");
  assert.equal(stepOf({ metadata: identity, spec, status: { phase: "Running" } }), "nothing");
});

standInTest("standInStep() ends what is deleted, whether it ran or not", () => {
  const metadata = { ...identity, ...gone };
  assert.equal(stepOf({ metadata, spec, status: { phase: "Running" } }), "end");
  assert.equal(stepOf({ metadata, spec }), "end");
});

standInTest("standInStep() leaves pods to the scheduler that have no node", () => {
  assert.equal(stepOf({ metadata: identity, spec: { containers: [] } }), "nothing");
  assert.equal(stepOf({ metadata: { ...identity, ...gone }, spec: {} }), "nothing");
});

standInTest("runningStatus() makes a pod that the product sees as Running and Ready", () => {
  const raw = { metadata: identity, spec };
  const status = runningStatus(parseStandInPod(raw), 1_700_000_000_123);
  // The server sets the class with the pod.
  const pod = parsePod({ ...raw, status: { ...status, qosClass: "Burstable" } });
  assert.equal(pod.phase, "Running");
  assert.equal(pod.ready, true);
  assert.equal(JSON.stringify(status).includes("2023-11-14T22:13:20Z"), true);
  assert.equal(stepOf({ ...raw, status }), "nothing");
});
