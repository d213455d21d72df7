import assert from "node:assert/strict";
import type { Pod, PodContainer } from "../../../shared/api/pod.ts";
import type { BoundRule, PodAllocation } from "../../../shared/api/pod_allocation.ts";
import { formatCPU } from "../../../shared/quantity.ts";
import {
  sampleContainer,
  sampleDesired,
  sampleGuaranteed,
  samplePod,
} from "../../../tests/contract/support/sample_objects.ts";
import { FACTS_NOW_MS, quietSnapshot } from "../../../tests/fixtures/market/bid_facts.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import { DEFAULT_MARKET_CONFIG } from "../../config.ts";
import type { MetricFact } from "../../metrics_demand/metric_fact.ts";
import { MAX_CPU } from "../../../shared/api/market_keys.ts";
import { type BoundsPlanInput, boundStory, newAllocation, planBounds } from "./publish_bounds.ts";

function podOf(container: PodContainer, maxCPU?: number): Pod {
  const pod = samplePod("web", { containers: [{ ...container, containerID: "containerd://a" }] });
  const annotations: Record<string, string> = maxCPU === undefined
    ? {}
    : { [MAX_CPU]: formatCPU(maxCPU) };
  return { ...pod, ready: true, metadata: { ...pod.metadata, uid: "u1", annotations } };
}

const bounded = (maxCPU?: number): Pod => podOf(sampleContainer(), maxCPU);

/** The pod with this limit, and with this request where that moves. */
function raisedTo(cpu: number, pod: Pod): Pod {
  const requests = (own: PodContainer["requests"]) =>
    pod.qosClass === "Guaranteed" ? { ...own, cpu } : own;
  const containers = pod.containers.map((app) => ({
    ...app,
    requests: requests(app.requests),
    limits: { ...app.limits, cpu },
  }));
  return { ...pod, containers };
}

/** Publishes once: what is written, and the allocation with it. */
function publish(
  pod: Pod,
  allocation: PodAllocation = newAllocation({ pod }),
  options: Partial<BoundsPlanInput> = {},
) {
  const { write, bounds, originals, warnings } = planBounds(
    { ...quietSnapshot(pod), allocation },
    { config: DEFAULT_MARKET_CONFIG, nowMs: FACTS_NOW_MS, forcesRevision: false, ...options },
  );
  const status = { ...allocation.status, ...originals, bounds };
  const [{ ceiling, demand } = { ceiling: 0, demand: 0 }] = bounds.containers;
  const stored = write === "nothing" ? allocation : { ...allocation, status };
  const { revision } = stored.status?.bounds ?? {};
  return { write, warnings, ceiling, demand, revision, allocation: stored };
}

pure("newAllocation() has the pod's names and its own labels of an application as labels", () => {
  const web = bounded();
  const labels = (metadata: Partial<Pod["metadata"]>) =>
    newAllocation({ pod: { ...web, metadata: { ...web.metadata, ...metadata } } }).metadata.labels;
  const bare = { "mbcas.io/pod": "web", "mbcas.io/node": web.nodeName };
  assert.deepEqual(labels({}), bare);
  const own = { app: "a", "app.kubernetes.io/name": "shop" };
  const hash = { "pod-template-hash": "7d58cb54b7" };
  const made = {
    labels: { ...own, ...hash },
    owner: { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-7d58cb54b7", uid: "r1" },
  };
  const workload = { "mbcas.io/workload-kind": "Deployment", "mbcas.io/workload": "web" };
  assert.deepEqual(labels(made), { ...bare, ...own, ...workload });
  const { "mbcas.io/pod": _pod, ...others } = bare;
  assert.deepEqual(labels({ name: "n".repeat(64) }), others);
  assert.equal(labels({ name: "n".repeat(63) })["mbcas.io/pod"]?.length, 63);
});

pure("newAllocation() is named by the pod's UID and owned by the pod", () => {
  const { metadata, spec, status } = newAllocation({ pod: bounded() });
  const owner = { apiVersion: "v1", kind: "Pod", name: "web", uid: "u1" };
  assert.deepEqual([metadata.name, metadata.ownerReferences, status], ["u1", [owner], undefined]);
  const place = { nodeName: "node-1", namespace: "shop" };
  assert.deepEqual(spec, { podName: "web", podUID: "u1", ...place });
});

pure("planBounds() records originals with the first bounds, and keeps the rest", () => {
  const pod = bounded();
  const fresh = newAllocation({ pod });
  const first = publish(pod, { ...fresh, status: { phase: "Applied", appliedCPULimit: "200m" } });
  const { bounds, ...status } = first.allocation.status ?? {};
  assert.deepEqual([first.write, first.revision], ["bounds", 1]);
  assert.deepEqual(Object.keys(bounds ?? {}).sort(), ["containers", "reason", "revision", "rules"]);
  assert.deepEqual(status, {
    ...{ phase: "Applied", appliedCPULimit: "200m" },
    originalLimits: [{ name: "app", cpu: "200m" }],
    originalRequests: [{ name: "app", cpu: "100m" }],
  });
  const raised = raisedTo(700, pod);
  assert.equal(publish(raised, first.allocation).write, "nothing");
  const containers = raised.containers.map((app) => ({ ...app, containerID: "containerd://b" }));
  const anew = publish({ ...raised, containers }, first.allocation);
  assert.deepEqual([anew.write, anew.ceiling, anew.revision], ["bounds", 1600, 2]);
  assert.deepEqual(anew.allocation.status?.originalLimits, status.originalLimits);
  const forced = publish(pod, first.allocation, { forcesRevision: true });
  assert.deepEqual([forced.ceiling, forced.revision], [first.ceiling, 2]);
  // A status was lost that the agent has seen.
  const seen = { ...fresh, spec: { ...fresh.spec, ...sampleDesired("300m") } };
  assert.equal(publish(pod, seen).revision, 4);
  assert.equal(publish(bounded(5000)).warnings.length, 1);
});

pure("planBounds() reckons a Guaranteed pod from its own request, not the one that was set", () => {
  const pod = podOf(sampleGuaranteed());
  const { allocation } = publish(pod);
  assert.deepEqual(allocation.status?.originalRequests, [{ name: "app", cpu: "200m" }]);
  const sides = { floor: 200, ceiling: 1600, weight: 200, requestMoves: true };
  assert.deepEqual(allocation.status?.bounds?.containers, [
    { name: "app", containerID: "containerd://a", ...sides },
  ]);
  assert.equal(publish(raisedTo(700, pod), allocation).write, "nothing");
});

pure("planBounds() rewrites a ceiling that moves by a tenth, or that binds", () => {
  const { allocation } = publish(bounded(500));
  const wrote = (maxCPU: number, limit?: string): string => {
    const desired = limit === undefined ? {} : sampleDesired(limit);
    return publish(bounded(maxCPU), {
      ...{ ...allocation, spec: { ...allocation.spec, ...desired } },
    }).write;
  };
  assert.deepEqual([451, 549].map((max) => wrote(max)), ["nothing", "nothing"]);
  assert.deepEqual([450, 550].map((max) => wrote(max)), ["bounds", "bounds"]);
  assert.deepEqual([wrote(480, "479m"), wrote(480, "480m")], ["nothing", "bounds"]);
  assert.deepEqual([wrote(520, "499m"), wrote(520, "500m")], ["nothing", "bounds"]);
});

/** What is written for one metric after the other. */
function written(metrics: readonly MetricFact[], first?: MetricFact) {
  const pod = bounded();
  let { allocation } = publish(pod, undefined, first === undefined ? {} : { metric: first });
  return metrics.map((metric) => {
    const published = publish(pod, allocation, { metric });
    ({ allocation } = published);
    const rules = allocation.status?.bounds?.rules ?? [];
    const message = rules.find(({ reason }) => reason === "MetricMissing")?.message;
    const demand = allocation.status?.bounds?.containers[0]?.demand;
    return [published.write, published.revision, demand ?? message];
  });
}

pure("planBounds() writes a metric's demand when it comes, goes, or moves by a tenth", () => {
  const says = (millicores: number): MetricFact => ({
    ...{ demand: millicores / 1000, source: "query jobs", untilMs: FACTS_NOW_MS + 1 },
  });
  const gone: MetricFact = { missing: "refused", fault: false };
  assert.deepEqual(written([says(500), says(545), says(551), says(480), gone, gone]), [
    ["bounds", 2, 500],
    ["nothing", 2, 500],
    ["bounds", 3, 551],
    ["bounds", 4, 480],
    ["bounds", 5, "refused"],
    ["nothing", 5, "refused"],
  ]);
});

pure("planBounds() writes another cause without a new revision, and no other numbers", () => {
  const because = (missing: string): MetricFact => ({ missing, fault: false });
  const causes = ["refused", "timeout 5 s", "timeout 6 s"].map(because);
  assert.deepEqual(written(causes, because("refused")), [
    ["nothing", 1, "refused"],
    ["messages", 1, "timeout 5 s"],
    ["nothing", 1, "timeout 5 s"],
  ]);
});

pure("boundStory() heeds causes and names, and no numbers", () => {
  const same = (one: string, other: string, reason = "QuotaExceeded"): boolean => {
    const rules = (message: string): BoundRule[] => [{ reason, message }];
    return boundStory(rules(one)) === boundStory(rules(other));
  };
  assert.ok(same("app at most 431m: ResourceQuota", "app at most 80m: ResourceQuota"));
  assert.ok(same("dial 10.0.0.1:4711: refused", "dial 10.0.0.1:4712: refused"));
  assert.ok(!same("query jobs: refused", "query jobs: empty"));
  assert.ok(!same("HPA web-1 scales", "HPA web-2 scales"));
  assert.ok(!same("query jobs1: old", "query jobs2: old"));
  assert.ok(same("app could use 5m: a", "app could use 5m: b", "MetricDemand"));
  assert.equal(boundStory(undefined), boundStory([]));
});
