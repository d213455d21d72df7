import assert from "node:assert/strict";
import type { Pod } from "../../../shared/api/pod.ts";
import type { PodAllocation, PodAllocationStatus } from "../../../shared/api/pod_allocation.ts";
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
import { MAX_CPU } from "./overrides.ts";
import { newAllocation, publishBounds, type PublishContext } from "./publish_bounds.ts";

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

/** Publishes once; returns the allocation with what was written. */
async function publish(
  pod: Pod,
  allocation: PodAllocation,
  { metric, forcesRevision = false }: Pick<PublishContext, "metric" | "forcesRevision"> = {},
) {
  const writes: PodAllocation[] = [];
  const store = {
    create: () => Promise.reject(new Error("not asked for")),
    remove: () => Promise.reject(new Error("not asked for")),
    writeStatus: (written: PodAllocation) => {
      writes.push(written);
      return Promise.resolve(written);
    },
  };
  const gathered = { ...quietSnapshot({ ...pod, ready: true }), allocation };
  const { written, warnings } = await publishBounds(gathered, {
    store,
    config: DEFAULT_MARKET_CONFIG,
    metric,
    forcesRevision,
    nowMs: FACTS_NOW_MS,
  });
  assert.equal(writes.length, written ? 1 : 0);
  return { written, warnings, allocation: writes[0] ?? allocation };
}

function ceiling({ status }: PodAllocation): number | undefined {
  return status?.bounds?.containers[0]?.ceiling;
}

function test(name: string, fn: () => void | Promise<void>): void {
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

test("publishBounds() records originals in the same write as the first bounds", async () => {
  const pod = samplePodWith();
  const { written, allocation } = await publish(pod, allocationOf(pod));
  assert.equal(written, true);
  assert.deepEqual(allocation.status?.originalLimits, [{ name: "app", cpu: "200m" }]);
  assert.deepEqual(allocation.status?.originalRequests, [{ name: "app", cpu: "100m" }]);
  assert.equal(allocation.status?.bounds?.revision, 1);
});

test("publishBounds() never rewrites originals, and reckons from them", async () => {
  const pod = samplePodWith();
  const { allocation } = await publish(pod, allocationOf(pod));
  const raised = {
    ...pod,
    containers: pod.containers.map((app) => ({ ...app, limits: { ...app.limits, cpu: 700 } })),
  };
  const again = await publish(raised, allocation);
  assert.equal(again.written, false);
  const restarted = {
    ...raised,
    containers: raised.containers.map((app) => ({ ...app, containerID: "containerd://b" })),
  };
  const anew = await publish(restarted, allocation);
  assert.equal(anew.written, true);
  assert.deepEqual(anew.allocation.status?.originalLimits, allocation.status?.originalLimits);
  assert.equal(ceiling(anew.allocation), 1600);
  assert.equal(anew.allocation.status?.bounds?.revision, 2);
});

test("publishBounds() counts a revision where one is forced, whatever the bounds", async () => {
  const pod = samplePodWith();
  const { allocation } = await publish(pod, allocationOf(pod));
  const asked = await publish(pod, allocation, { forcesRevision: true });
  assert.equal(asked.allocation.status?.bounds?.revision, 2);
  assert.equal(ceiling(asked.allocation), ceiling(allocation));
});

test("publishBounds() reckons a Guaranteed pod from its own request, not the one that was set", async () => {
  const sample = samplePod("web", {
    containers: [sampleGuaranteed({ containerID: "containerd://a" })],
  });
  const pod = { ...sample, metadata: { ...sample.metadata, uid: "u1" } };
  const { allocation } = await publish(pod, allocationOf(pod));
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
  const again = await publish({ ...pod, containers: raised }, allocation);
  assert.equal(again.written, false);
});

test("publishBounds() keeps the rest of the status", async () => {
  const pod = samplePodWith();
  const status: PodAllocationStatus = { phase: "Applied", appliedCPULimit: "200m" };
  const { allocation } = await publish(pod, { ...allocationOf(pod), status });
  assert.equal(allocation.status?.phase, "Applied");
  assert.equal(allocation.status?.appliedCPULimit, "200m");
});

test("publishBounds() rewrites a ceiling that moves by a tenth, or that binds", async () => {
  const { allocation } = await publish(samplePodWith(500), allocationOf(samplePodWith(500)));
  assert.equal(ceiling(allocation), 500);
  assert.equal((await publish(samplePodWith(451), allocation)).written, false);
  assert.equal((await publish(samplePodWith(549), allocation)).written, false);
  assert.equal((await publish(samplePodWith(450), allocation)).written, true);
  assert.equal((await publish(samplePodWith(550), allocation)).written, true);

  const wanting = (limit: string): PodAllocation => ({
    ...allocation,
    spec: { ...allocation.spec, ...sampleDesired(limit) },
  });
  assert.equal((await publish(samplePodWith(480), wanting("479m"))).written, false);
  assert.equal((await publish(samplePodWith(480), wanting("480m"))).written, true);
  assert.equal((await publish(samplePodWith(520), wanting("499m"))).written, false);
  assert.equal((await publish(samplePodWith(520), wanting("500m"))).written, true);
});

test("publishBounds() begins above the revision that the agent saw when a status was lost", async () => {
  const pod = samplePodWith();
  const fresh = allocationOf(pod);
  const lost = { ...fresh, spec: { ...fresh.spec, ...sampleDesired("300m") } };
  const { allocation } = await publish(pod, lost);
  assert.equal(allocation.status?.bounds?.revision, 4);
});

test("publishBounds() passes warnings on, and writes none of them", async () => {
  const pod = samplePodWith(5000);
  const { warnings, allocation } = await publish(pod, allocationOf(pod));
  assert.equal(warnings.length, 1);
  assert.deepEqual(Object.keys(allocation.status?.bounds ?? {}).sort(), [
    "containers",
    "reason",
    "revision",
    "rules",
  ]);
});

test("publishBounds() writes a metric's demand when it comes, goes, or moves by a tenth", async () => {
  const pod = samplePodWith();
  const says = (millicores: number): MetricFact => ({
    demand: millicores / 1000,
    source: "query jobs",
    untilMs: FACTS_NOW_MS + 1,
  });
  const gone: MetricFact = { missing: "query jobs: connection refused", fault: false };
  let { allocation } = await publish(pod, allocationOf(pod));
  const reported: unknown[] = [];
  for (const metric of [says(500), says(545), says(551), says(480), gone, gone]) {
    const published = await publish(pod, allocation, { metric });
    ({ allocation } = published);
    const bounds = allocation.status?.bounds;
    reported.push([published.written, bounds?.revision, bounds?.containers[0]?.demand]);
  }
  assert.deepEqual(reported, [
    [true, 2, 500],
    [false, 2, 500],
    [true, 3, 551],
    [true, 4, 480],
    [true, 5, undefined],
    [false, 5, undefined],
  ]);
});

test("publishBounds() writes another cause without a new revision, and no other numbers", async () => {
  const pod = samplePodWith();
  const because = (missing: string): MetricFact => ({ missing, fault: false });
  let { allocation } = await publish(pod, allocationOf(pod), {
    metric: because("query a: refused"),
  });
  const reported: unknown[] = [];
  for (const cause of ["refused", "timeout 5 s", "timeout 6 s"]) {
    const published = await publish(pod, allocation, { metric: because(`query a: ${cause}`) });
    ({ allocation } = published);
    const { revision, rules = [] } = allocation.status?.bounds ?? {};
    const said = rules.find(({ reason }) => reason === "MetricMissing")?.message;
    reported.push([published.written, revision, said]);
  }
  assert.deepEqual(reported, [
    [false, 1, "query a: refused"],
    [true, 1, "query a: timeout 5 s"],
    [false, 1, "query a: timeout 5 s"],
  ]);
});
