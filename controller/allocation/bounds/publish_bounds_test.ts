import assert from "node:assert/strict";
import type { Pod } from "../../../shared/api/pod.ts";
import type {
  BoundRule,
  PodAllocation,
  PodAllocationStatus,
} from "../../../shared/api/pod_allocation.ts";
import { formatCPU } from "../../../shared/quantity.ts";
import {
  sampleContainer,
  sampleDesired,
  sampleGuaranteed,
  samplePod,
} from "../../../tests/contract/support/sample_objects.ts";
import { FACTS_NOW_MS, quietSnapshot } from "../../../tests/fixtures/market/bid_facts.ts";
import { DEFAULT_MARKET_CONFIG } from "../../config.ts";
import type { MetricFact } from "../../metrics_demand/metric_fact.ts";
import { MAX_CPU } from "../../../shared/api/market_keys.ts";
import { type BoundsPlanInput, boundStory, newAllocation, planBounds } from "./publish_bounds.ts";

function samplePodWith(maxCPU?: number): Pod {
  const pod = samplePod("web", {
    containers: [sampleContainer({ containerID: "containerd://a" })],
  });
  const annotations: Record<string, string> = maxCPU === undefined
    ? {}
    : { [MAX_CPU]: formatCPU(maxCPU) };
  return { ...pod, metadata: { ...pod.metadata, uid: "u1", annotations } };
}

function allocationOf(pod: Pod): PodAllocation {
  return newAllocation({ pod });
}

/** Publishes once; returns the allocation with what is written. */
function publish(
  pod: Pod,
  allocation: PodAllocation,
  options: Pick<BoundsPlanInput, "metric" | "forcesRevision"> = {},
) {
  const { write, bounds, originals, warnings } = planBounds(
    { ...quietSnapshot({ ...pod, ready: true }), allocation },
    { ...options, config: DEFAULT_MARKET_CONFIG, wallMs: FACTS_NOW_MS },
  );
  const status = { ...allocation.status, ...originals, bounds };
  return {
    write,
    warnings,
    allocation: write === "nothing" ? allocation : { ...allocation, status },
  };
}

function ceiling({ status }: PodAllocation): number | undefined {
  return status?.bounds?.containers[0]?.ceiling;
}

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

test("newAllocation() is named by the pod's UID and owned by the pod", () => {
  const { metadata, spec, status } = allocationOf(samplePodWith());
  assert.equal(metadata.name, "u1");
  assert.deepEqual(metadata.ownerReferences, [
    { apiVersion: "v1", kind: "Pod", name: "web", uid: "u1" },
  ]);
  assert.deepEqual(spec, {
    podName: "web",
    podUID: "u1",
    nodeName: "node-1",
    namespace: "shop",
  });
  assert.equal(status, undefined);
});

test("planBounds() records originals in the same write as the first bounds", () => {
  const pod = samplePodWith();
  const { write, allocation } = publish(pod, allocationOf(pod));
  assert.equal(write, "bounds");
  assert.deepEqual(allocation.status?.originalLimits, [{ name: "app", cpu: "200m" }]);
  assert.deepEqual(allocation.status?.originalRequests, [{ name: "app", cpu: "100m" }]);
  assert.equal(allocation.status?.bounds?.revision, 1);
});

test("planBounds() never rewrites originals, and reckons from them", () => {
  const pod = samplePodWith();
  const { allocation } = publish(pod, allocationOf(pod));
  const raised = {
    ...pod,
    containers: pod.containers.map((app) => ({ ...app, limits: { ...app.limits, cpu: 700 } })),
  };
  const again = publish(raised, allocation);
  assert.equal(again.write, "nothing");
  const restarted = {
    ...raised,
    containers: raised.containers.map((app) => ({ ...app, containerID: "containerd://b" })),
  };
  const anew = publish(restarted, allocation);
  assert.equal(anew.write, "bounds");
  assert.deepEqual(anew.allocation.status?.originalLimits, allocation.status?.originalLimits);
  assert.equal(ceiling(anew.allocation), 1600);
  assert.equal(anew.allocation.status?.bounds?.revision, 2);
});

test("planBounds() counts a revision where one is forced, whatever the bounds", () => {
  const pod = samplePodWith();
  const { allocation } = publish(pod, allocationOf(pod));
  const asked = publish(pod, allocation, { forcesRevision: true });
  assert.equal(asked.allocation.status?.bounds?.revision, 2);
  assert.equal(ceiling(asked.allocation), ceiling(allocation));
});

test("planBounds() reckons a Guaranteed pod from its own request, not the one that was set", () => {
  const sample = samplePod("web", {
    containers: [sampleGuaranteed({ containerID: "containerd://a" })],
  });
  const pod = { ...sample, metadata: { ...sample.metadata, uid: "u1" } };
  const { allocation } = publish(pod, allocationOf(pod));
  const own = [{ name: "app", cpu: "200m" }];
  assert.deepEqual(allocation.status?.originalRequests, own);
  assert.deepEqual(allocation.status?.bounds?.containers, [{
    name: "app",
    containerID: "containerd://a",
    floor: 200,
    ceiling: 1600,
    weight: 200,
    requestMoves: true,
  }]);
  const raised = pod.containers.map((app) => ({
    ...app,
    requests: { ...app.requests, cpu: 700 },
    limits: { ...app.limits, cpu: 700 },
  }));
  const again = publish({ ...pod, containers: raised }, allocation);
  assert.equal(again.write, "nothing");
});

test("planBounds() keeps the rest of the status", () => {
  const pod = samplePodWith();
  const status: PodAllocationStatus = { phase: "Applied", appliedCPULimit: "200m" };
  const { allocation } = publish(pod, { ...allocationOf(pod), status });
  assert.equal(allocation.status?.phase, "Applied");
  assert.equal(allocation.status?.appliedCPULimit, "200m");
});

test("planBounds() rewrites a ceiling that moves by a tenth, or that binds", () => {
  const { allocation } = publish(samplePodWith(500), allocationOf(samplePodWith(500)));
  assert.equal(ceiling(allocation), 500);
  assert.equal(publish(samplePodWith(451), allocation).write, "nothing");
  assert.equal(publish(samplePodWith(549), allocation).write, "nothing");
  assert.equal(publish(samplePodWith(450), allocation).write, "bounds");
  assert.equal(publish(samplePodWith(550), allocation).write, "bounds");

  const wanting = (limit: string): PodAllocation => ({
    ...allocation,
    spec: { ...allocation.spec, ...sampleDesired(limit) },
  });
  assert.equal(publish(samplePodWith(480), wanting("479m")).write, "nothing");
  assert.equal(publish(samplePodWith(480), wanting("480m")).write, "bounds");
  assert.equal(publish(samplePodWith(520), wanting("499m")).write, "nothing");
  assert.equal(publish(samplePodWith(520), wanting("500m")).write, "bounds");
});

test("planBounds() begins above the revision that the agent saw when a status was lost", () => {
  const pod = samplePodWith();
  const fresh = allocationOf(pod);
  const lost = { ...fresh, spec: { ...fresh.spec, ...sampleDesired("300m") } };
  const { allocation } = publish(pod, lost);
  assert.equal(allocation.status?.bounds?.revision, 4);
});

test("planBounds() passes warnings on, and writes none of them", () => {
  const pod = samplePodWith(5000);
  const { warnings, allocation } = publish(pod, allocationOf(pod));
  assert.equal(warnings.length, 1);
  assert.deepEqual(Object.keys(allocation.status?.bounds ?? {}).sort(), [
    "containers",
    "reason",
    "revision",
    "rules",
  ]);
});

test("planBounds() writes a metric's demand when it comes, goes, or moves by a tenth", () => {
  const pod = samplePodWith();
  const says = (millicores: number): MetricFact => ({
    demand: millicores / 1000,
    source: "query jobs",
    untilMs: FACTS_NOW_MS + 1,
  });
  const gone: MetricFact = { missing: "query jobs: connection refused", fault: false };
  let { allocation } = publish(pod, allocationOf(pod));
  const reported: unknown[] = [];
  for (const metric of [says(500), says(545), says(551), says(480), gone, gone]) {
    const published = publish(pod, allocation, { metric });
    ({ allocation } = published);
    const bounds = allocation.status?.bounds;
    reported.push([published.write, bounds?.revision, bounds?.containers[0]?.demand]);
  }
  assert.deepEqual(reported, [
    ["bounds", 2, 500],
    ["nothing", 2, 500],
    ["bounds", 3, 551],
    ["bounds", 4, 480],
    ["bounds", 5, undefined],
    ["nothing", 5, undefined],
  ]);
});

test("planBounds() writes another cause without a new revision, and no other numbers", () => {
  const pod = samplePodWith();
  const because = (missing: string): MetricFact => ({ missing, fault: false });
  let { allocation } = publish(pod, allocationOf(pod), {
    metric: because("query a: refused"),
  });
  const reported: unknown[] = [];
  for (const cause of ["refused", "timeout 5 s", "timeout 6 s"]) {
    const published = publish(pod, allocation, { metric: because(`query a: ${cause}`) });
    ({ allocation } = published);
    const { revision, rules = [] } = allocation.status?.bounds ?? {};
    const said = rules.find(({ reason }) => reason === "MetricMissing")?.message;
    reported.push([published.write, revision, said]);
  }
  assert.deepEqual(reported, [
    ["nothing", 1, "query a: refused"],
    ["messages", 1, "query a: timeout 5 s"],
    ["nothing", 1, "query a: timeout 5 s"],
  ]);
});

function same(one: string, other: string, reason = "QuotaExceeded"): boolean {
  const rules = (message: string): BoundRule[] => [{ reason, message }];
  return boundStory(rules(one)) === boundStory(rules(other));
}

Deno.test({
  name: "boundStory() heeds causes and names, and no numbers",
  permissions: "none",
  fn() {
    assert.ok(same("app at most 431m: ResourceQuota", "app at most 80m: ResourceQuota"));
    assert.ok(same("dial 10.0.0.1:4711: refused", "dial 10.0.0.1:4712: refused"));
    assert.ok(!same("query jobs: refused", "query jobs: empty"));
    assert.ok(!same("HPA web-1 scales", "HPA web-2 scales"));
    assert.ok(!same("query jobs1: old", "query jobs2: old"));
    assert.ok(same("app could use 5m: a", "app could use 5m: b", "MetricDemand"));
    assert.equal(boundStory(undefined), boundStory([]));
  },
});
