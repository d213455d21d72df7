import assert from "node:assert/strict";
import type { Pod, ResizeCondition } from "../../shared/api/pod.ts";
import type { WorkloadRecord } from "../../shared/rightsizing/workload_record.ts";
import { type ContainerFields, withFields } from "../../tests/fixtures/container_fields.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import {
  autoPolicy,
  NOW_MS,
  rightsizingFacts,
  templateContainer,
  workloadPod,
} from "../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import { lacksSamplesBriefly, unfinishedResizes } from "./outcome.ts";

const POLICY = { namespace: "shop", name: "all" };
const BEFORE: WorkloadRecord = {
  workload: { kind: "Deployment", namespace: "shop", name: "web" },
  policy: POLICY,
  uid: "uid-web",
  status: "Applied",
  recommendedAtMs: NOW_MS - 60_000,
  recommendations: [],
  inForce: [],
};

pure("lacksSamplesBriefly() is true within an hour, for half the samples", () => {
  const of = (change: Partial<WorkloadRecord>, have = 9, windowMs = 300_000): boolean => {
    const samples = new Map([["app", have]]);
    const facts = rightsizingFacts({ samples, policy: autoPolicy({}, { windowMs }) });
    const now = { uid: "uid-web", policy: POLICY };
    return lacksSamplesBriefly(facts, { before: { ...BEFORE, ...change }, now });
  };
  const anHourAgo = { recommendedAtMs: NOW_MS - 3_600_001 };
  const rows = [
    [of({}), true],
    [of({}, 5), true],
    [of({}, 4), false],
    [of({ status: "Error" }), false],
    [of({ reason: "InsufficientSamples" }), false],
    [of({ status: "Skipped", reason: "ProviderUnavailable" }), false],
    [of({ status: "Skipped", reason: "MetricsMissing" }), false],
    [of({ status: "Skipped", reason: "Cooldown" }), true],
    [of({ uid: "uid-former" }), false],
    [of({ policy: { ...POLICY, name: "other" } }), false],
    [of(anHourAgo), false],
    [of(anHourAgo, 9, 4_000_000), true],
    [lacksSamplesBriefly(rightsizingFacts(), { before: undefined, now: BEFORE }), false],
  ] as const;
  for (const [index, [found, expected]] of rows.entries()) {
    assert.equal(found, expected, `${index}`);
  }
});

function podOf(name: string, condition?: Partial<ResizeCondition>): Pod {
  const pod = workloadPod(name, [templateContainer()]);
  if (condition === undefined) return pod;
  const whole = { type: "PodResizePending", reason: "", message: "", ...condition } as const;
  return {
    ...pod,
    metadata: { ...pod.metadata, generation: 2 },
    resizeConditions: [{ observedGeneration: 2, ...whole }],
  };
}

const DEFERRED = { reason: "Deferred", message: "node is full" };
const INFEASIBLE = { reason: "Infeasible", message: "Node didn't have enough capacity: cpu" };
const IN_PROGRESS = { type: "PodResizeInProgress" } as const;

pure("unfinishedResizes() has the worst resize condition, and counts pods", () => {
  const of = (...conditions: readonly (Partial<ResizeCondition> | undefined)[]) => {
    const pods = conditions.map((one, index) => podOf(`web-${index}`, one));
    const found = unfinishedResizes(pods, { marketManages: false });
    return found && `${found.reason}: ${found.message}`;
  };
  assert.equal(of(undefined), undefined);
  assert.equal(of(IN_PROGRESS), undefined);
  assert.equal(of(undefined, DEFERRED), "ResizeDeferred: 1 pods, web-1: node is full");
  const worst = `NodeCapacity: 2 pods, web-1: ${INFEASIBLE.message}`;
  assert.equal(of(DEFERRED, INFEASIBLE, undefined), worst);
  assert.match(
    of(DEFERRED, { ...IN_PROGRESS, reason: "Error" }) ?? "",
    /^ResizeError: 2 pods, web-1/,
  );
  // Of an older spec.
  assert.equal(of({ ...INFEASIBLE, observedGeneration: 1 }), undefined);
});

pure("unfinishedResizes() leaves out what only the market's limits wait for", () => {
  const waiting = (container: ContainerFields): string | undefined => {
    const pod = podOf("web-1", DEFERRED);
    const containers = pod.containers.map((one) => withFields(one, container));
    return unfinishedResizes([{ ...pod, containers }], { marketManages: true })?.reason;
  };
  const requests = { cpu: 100, memory: 64 };
  const limit = { requests, limits: { cpu: 400 }, applied: { limits: { cpu: 200 } } };
  const memoryLimit = { limits: { memory: 128 }, applied: { limits: { memory: 256 } } };
  const lessCPU = { requests, allocated: { ...requests, cpu: 90 } };
  assert.equal(waiting({ ...limit, allocated: requests }), undefined);
  assert.equal(waiting(limit), undefined);
  assert.equal(waiting({ ...lessCPU, sidecar: true }), undefined);
  assert.equal(waiting(lessCPU), "ResizeDeferred");
  assert.equal(waiting({ requests, allocated: { ...requests, memory: 63 } }), "ResizeDeferred");
  assert.equal(waiting({ requests, allocated: requests, ...memoryLimit }), "ResizeDeferred");
});
