import { type ContainerFields, withFields } from "../../tests/fixtures/container_fields.ts";
import assert from "node:assert/strict";
import {
  autoPolicy,
  NOW_MS,
  rightsizingFacts,
  templateContainer,
  workloadPod,
} from "../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import type { Pod, ResizeCondition } from "../api/pod.ts";
import { lacksSamplesBriefly, unfinishedResizes } from "./workload_checks.ts";
import type { WorkloadRecord } from "./workload_record.ts";
import { sampleWorkload } from "../../tests/fixtures/sample_workloads.ts";
import { foundWorkload, rightsizedWorkload } from "./guards/rightsizing_facts.ts";

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

Deno.test({
  name:
    "lacksSamplesBriefly() is true for a workload that had enough within the hour, and has half of it",
  permissions: "none",
  fn() {
    const of = (change: Partial<WorkloadRecord>, have = 9, windowMs = 300_000): boolean =>
      lacksSamplesBriefly(
        rightsizingFacts({
          samples: new Map([["app", have]]),
          policy: autoPolicy({}, { windowMs }),
        }),
        { before: { ...BEFORE, ...change }, now: { uid: "uid-web", policy: POLICY } },
      );
    assert.equal(of({}), true);
    assert.deepEqual([of({}, 5), of({}, 4)], [true, false]);
    assert.equal(of({ status: "Error" }), false);
    assert.equal(of({ reason: "InsufficientSamples" }), false);
    assert.equal(of({ uid: "uid-former" }), false);
    assert.equal(of({ policy: { ...POLICY, name: "other" } }), false);
    const anHourAgo = { recommendedAtMs: NOW_MS - 3_600_001 };
    assert.deepEqual([of(anHourAgo), of(anHourAgo, 9, 4_000_000)], [false, true]);
    assert.equal(
      lacksSamplesBriefly(rightsizingFacts(), { before: undefined, now: BEFORE }),
      false,
    );
  },
});

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

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

const FREE = { marketManages: false };

const DEFERRED = { reason: "Deferred", message: "node is full" };
const INFEASIBLE = { reason: "Infeasible", message: "Node didn't have enough capacity: cpu" };

test("unfinishedResizes() has the worst condition that kubelets report, and the number of pods", () => {
  assert.equal(unfinishedResizes([podOf("web-1")], FREE), undefined);
  assert.equal(
    unfinishedResizes([podOf("web-1", { type: "PodResizeInProgress" })], FREE),
    undefined,
  );
  assert.deepEqual(unfinishedResizes([podOf("web-1"), podOf("web-2", DEFERRED)], FREE), {
    reason: "ResizeDeferred",
    message: "1 pods, web-2: node is full",
  });
  assert.deepEqual(
    unfinishedResizes([podOf("web-1", DEFERRED), podOf("web-2", INFEASIBLE), podOf("web-3")], FREE),
    { reason: "NodeCapacity", message: `2 pods, web-2: ${INFEASIBLE.message}` },
  );
  const failed = { type: "PodResizeInProgress", reason: "Error", message: "cgroup" } as const;
  assert.equal(unfinishedResizes([podOf("web-1", failed)], FREE)?.reason, "ResizeError");
});

test("unfinishedResizes() leaves out conditions of an older spec", () => {
  const pod = podOf("web-1", { ...INFEASIBLE, observedGeneration: 1 });
  assert.equal(unfinishedResizes([pod], FREE), undefined);
});

test("unfinishedResizes() leaves out what only the market's limits wait for", () => {
  const waiting = (container: ContainerFields): string | undefined => {
    const pod = podOf("web-1", DEFERRED);
    const containers = pod.containers.map((one) => withFields(one, container));
    return unfinishedResizes([{ ...pod, containers }], { marketManages: true })?.reason;
  };
  const there = { requests: { cpu: 100, memory: 64 }, limits: {} };
  const limit = { limits: { cpu: 400 }, applied: { limits: { cpu: 200 } } };
  assert.equal(
    waiting({ ...limit, requests: there.requests, allocated: there.requests }),
    undefined,
  );
  assert.equal(
    waiting({ ...limit, requests: there.requests }),
    undefined,
  );
  assert.equal(waiting({ ...there, allocated: { ...there.requests, cpu: 90 } }), "ResizeDeferred");
  assert.equal(
    waiting({ ...there, allocated: { ...there.requests, memory: 63 } }),
    "ResizeDeferred",
  );
  assert.equal(
    waiting({
      ...there,
      allocated: there.requests,
      limits: { ...there.limits, memory: 128 },
      applied: { limits: { memory: 256 } },
    }),
    "ResizeDeferred",
  );
  const sidecar = { sidecar: true, ...there, allocated: { ...there.requests, cpu: 90 } };
  assert.equal(waiting(sidecar), undefined);
});

test("rightsizedWorkload() is the workload with its template, and nothing without one", () => {
  const template = { containers: [templateContainer()], initContainers: [] };
  const { kind, metadata, rollout } = sampleWorkload();
  const makes = { paused: true, replicas: 4, template };
  assert.deepEqual(rightsizedWorkload({ ...sampleWorkload(), makes }), {
    kind,
    metadata,
    rollout,
    paused: true,
    replicas: 4,
    template,
  });
  const unreadableTemplate = "Cannot read it";
  assert.equal(rightsizedWorkload({ ...sampleWorkload(), unreadableTemplate }), undefined);
});

test("foundWorkload() says why a template is not known", () => {
  const template = { containers: [templateContainer()], initContainers: [] };
  const read = { ...sampleWorkload(), makes: { paused: false, replicas: 1, template } };
  assert.deepEqual(foundWorkload(read), rightsizedWorkload(read));
  const { kind, metadata } = read;
  const unreadableTemplate = "Cannot read a template: it has no containers";
  assert.deepEqual(foundWorkload({ ...sampleWorkload(), unreadableTemplate }), {
    kind,
    metadata,
    unreadableTemplate,
  });
});
