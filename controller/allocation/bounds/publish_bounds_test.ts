import fc from "fast-check";
import assert from "node:assert/strict";
import {
  ALLOW_OVERRIDES,
  BURST_FACTOR,
  MAX_CPU,
  PRIORITY_MULTIPLIER,
  STARTUP_BOOST,
} from "../../../shared/api/market_keys.ts";
import type { Namespace } from "../../../shared/api/namespace.ts";
import type { Texts } from "../../../shared/api/object.ts";
import type { Pod, PodContainer } from "../../../shared/api/pod.ts";
import type { PodAllocation } from "../../../shared/api/pod_allocation.ts";
import { kindMeta, valueOf } from "../../../shared/config/kinds.ts";
import {
  sampleContainer,
  sampleDesired,
  sampleGuaranteed,
  samplePod,
} from "../../../tests/contract/support/sample_objects.ts";
import { withFields } from "../../../tests/fixtures/container_fields.ts";
import { INPUT_NOW_MS, quietSnapshot } from "../../../tests/fixtures/market/decide_claim.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import { DEFAULT_MARKET_CONFIG } from "../../config.ts";
import type { MetricAnswer } from "../../metrics_demand/metric_answer.ts";
import { type OverrideInput, type Overrides, overridesOf } from "./overrides.ts";
import { clampMultiplier, priorityMultiplier, priorityTableKind } from "./priority_multiplier.ts";
import {
  type BoundsPlanInput,
  newAllocation,
  planBounds,
  rulesWithoutNumbers,
} from "./publish_bounds.ts";

function podOf(container: PodContainer, annotations: Texts = {}): Pod {
  const pod = samplePod("web", { containers: [{ ...container, containerID: "containerd://a" }] });
  return { ...pod, ready: true, metadata: { ...pod.metadata, uid: "u1", annotations } };
}

const bounded = (maxCPU?: number): Pod =>
  podOf(sampleContainer(), maxCPU === undefined ? {} : { [MAX_CPU]: `${maxCPU}m` });

/** The pod with this limit, and with this request where that moves. */
function raisedTo(cpu: number, pod: Pod): Pod {
  const amounts = pod.qosClass === "Guaranteed" ? { requests: { cpu } } : {};
  const containers = pod.containers.map((app) => withFields(app, { ...amounts, limits: { cpu } }));
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
    { config: DEFAULT_MARKET_CONFIG, nowMs: INPUT_NOW_MS, forcesRevision: false, ...options },
  );
  const status = { ...allocation.status, ...originals, bounds };
  const [{ ceiling, demand } = { ceiling: 0, demand: 0 }] = bounds.containers;
  const stored = write === "nothing" ? allocation : { ...allocation, status };
  const { revision } = stored.status?.bounds ?? {};
  return { write, warnings, ceiling, demand, revision, allocation: stored };
}

pure("newAllocation() is named by the pod's UID, and has its names and labels", () => {
  const web = bounded();
  const { metadata, spec, status } = newAllocation({ pod: web });
  const owner = { apiVersion: "v1", kind: "Pod", name: "web", uid: "u1" };
  assert.deepEqual([metadata.name, metadata.ownerReferences, status], ["u1", [owner], undefined]);
  const place = { nodeName: "node-1", namespace: "shop" };
  assert.deepEqual(spec, { podName: "web", podUID: "u1", ...place });
  const labels = (change: Partial<Pod["metadata"]>) =>
    newAllocation({ pod: { ...web, metadata: { ...web.metadata, ...change } } }).metadata.labels;
  const bare = { "mbcas.io/pod": "web", "mbcas.io/node": "node-1" };
  assert.deepEqual(metadata.labels, bare);
  // Its own labels of an application, and those of its workload.
  const own = { app: "a", "app.kubernetes.io/name": "shop" };
  const made = {
    labels: { ...own, "pod-template-hash": "7d58cb54b7" },
    owner: { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-7d58cb54b7", uid: "r1" },
  };
  const workload = { "mbcas.io/workload-kind": "Deployment", "mbcas.io/workload": "web" };
  assert.deepEqual(labels(made), { ...bare, ...own, ...workload });
  assert.deepEqual(labels({ name: "n".repeat(64) }), { "mbcas.io/node": "node-1" });
  assert.equal(labels({ name: "n".repeat(63) })["mbcas.io/pod"]?.length, 63);
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
  const [app] = allocation.status?.bounds?.containers ?? [];
  const sides = { floor: 200, ceiling: 1600, weight: 200, requestMoves: true };
  assert.deepEqual(app, { name: "app", containerID: "containerd://a", ...sides });
  assert.equal(publish(raisedTo(700, pod), allocation).write, "nothing");
});

pure("planBounds() adds the factor of the priority to bounds of an older version", () => {
  const pod = { ...bounded(500), priority: 4000 };
  const { allocation } = publish(pod);
  assert.equal(publish(pod, allocation).write, "nothing");
  const { status } = allocation;
  const containers = status?.bounds?.containers.map(({ multiplier: _, ...rest }) => rest) ?? [];
  const bounds = { revision: 1, reason: "", ...status?.bounds, containers };
  assert.equal(publish(pod, { ...allocation, status: { ...status, bounds } }).write, "bounds");
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

/** The write, the revision, and the demand or why there is none, for one metric after the other. */
function written(metrics: readonly MetricAnswer[], first?: MetricAnswer) {
  const pod = bounded();
  let { allocation } = publish(pod, undefined, first && { metric: first });
  return metrics.map((metric) => {
    const published = publish(pod, allocation, { metric });
    ({ allocation } = published);
    const { rules = [], containers: [app] = [] } = allocation.status?.bounds ?? {};
    const message = rules.find(({ reason }) => reason === "MetricMissing")?.message;
    return [published.write, published.revision, app?.demand ?? message];
  });
}

pure("planBounds() writes a metric's demand when it comes, goes, or moves by a tenth", () => {
  const says = (millicores: number): MetricAnswer => ({
    ...{ demand: millicores / 1000, source: "query jobs", untilMs: INPUT_NOW_MS + 1 },
  });
  const gone: MetricAnswer = { missing: "refused", fault: false };
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
  const because = (missing: string): MetricAnswer => ({ missing, fault: false });
  const causes = ["refused", "timeout 5 s", "timeout 6 s"].map(because);
  assert.deepEqual(written(causes, because("refused")), [
    ["nothing", 1, "refused"],
    ["messages", 1, "timeout 5 s"],
    ["nothing", 1, "timeout 5 s"],
  ]);
});

pure("rulesWithoutNumbers() heeds causes and names, and no numbers", () => {
  const rows: readonly (readonly [same: boolean, string, string, reason?: string])[] = [
    [true, "app at most 431m: ResourceQuota", "app at most 80m: ResourceQuota"],
    [true, "dial 10.0.0.1:4711: refused", "dial 10.0.0.1:4712: refused"],
    [false, "query jobs: refused", "query jobs: empty"],
    [false, "HPA web-1 scales", "HPA web-2 scales"],
    [false, "query jobs1: old", "query jobs2: old"],
    [true, "app could use 5m: a", "app could use 5m: b", "MetricDemand"],
  ];
  for (const [same, one, other, reason = "QuotaExceeded"] of rows) {
    const of = (message: string) => rulesWithoutNumbers([{ reason, message }]);
    assert.equal(of(one) === of(other), same, other);
  }
  assert.equal(rulesWithoutNumbers(undefined), rulesWithoutNumbers([]));
});

interface Choice extends Partial<OverrideInput["config"]> {
  readonly labels?: Texts;
  readonly theirs?: Texts;
  readonly originalLimits?: readonly number[];
}

/** Original limit 200 m, burst factor 4: annotations may ask for up to 800 m. */
function read(annotations: Texts, choice: Choice = {}): Overrides {
  const { labels = {}, theirs = {}, originalLimits = [200], ...config } = choice;
  const pod = samplePod("web");
  const identity = { name: "shop", uid: "", resourceVersion: "" };
  const namespace: Namespace = { metadata: { ...identity, labels, annotations: theirs } };
  return overridesOf({
    ...{ pod: { ...pod, metadata: { ...pod.metadata, annotations } }, namespace, originalLimits },
    config: { burstFactor: 4, leastCeiling: 0, ...config },
  });
}

const FACTOR_4 = { burstFactor: 4, burstCeilings: [800] };
const ALLOWED = { labels: { [ALLOW_OVERRIDES]: "true" } };
const NO_WARNINGS = { ...FACTOR_4, warnings: [] };

pure("overridesOf() allows less for all, and more where an administrator does", () => {
  assert.deepEqual(read({}), NO_WARNINGS);
  const less = read({ [MAX_CPU]: "0.8", [PRIORITY_MULTIPLIER]: "0.5" });
  assert.deepEqual(less, { ...NO_WARNINGS, maxCPU: 800, priorityMultiplier: 0.5 });
  const more = { [MAX_CPU]: "801m", [PRIORITY_MULTIPLIER]: "20", [STARTUP_BOOST]: "2x" };
  const { warnings, ...rest } = read(more);
  assert.deepEqual(rest, FACTOR_4);
  const asked = warnings.map(({ message }) => message.split(":")[0]);
  assert.deepEqual(asked, [PRIORITY_MULTIPLIER, MAX_CPU, STARTUP_BOOST]);
  const { warnings: left, ...allowed } = read(more, ALLOWED);
  const startupBoost = { factor: 2, holdMs: 0 };
  assert.deepEqual(allowed, { ...FACTOR_4, maxCPU: 801, priorityMultiplier: 10, startupBoost });
  assert.equal(left.length, 1);
  // The pod's own label, or an annotation, is no administrator's.
  const own = { [MAX_CPU]: "900m", [ALLOW_OVERRIDES]: "true" };
  assert.equal(read(own, { theirs: ALLOWED.labels }).maxCPU, undefined);
});

pure("overridesOf() names the object of an unreadable value", () => {
  const theirs = { labels: { [BURST_FACTOR]: "x" }, theirs: { [BURST_FACTOR]: "y" } };
  const { warnings } = read({ [MAX_CPU]: "2 cores", [PRIORITY_MULTIPLIER]: "high" }, theirs);
  const values = /mbcas\.io\/[\w-]+|"[^"]*"/g;
  const found = warnings.map(({ message, about }) => [
    ...[about?.kind ?? "pod", ...message.match(values)?.slice(0, 2) ?? []],
  ]);
  assert.deepEqual(found, [
    ["Namespace", BURST_FACTOR, '"x"'],
    ["Namespace", BURST_FACTOR, '"y"'],
    ["pod", PRIORITY_MULTIPLIER, '"high"'],
    ["pod", MAX_CPU, '"2 cores"'],
  ]);
});

pure("overridesOf() reports a multiplier that counts for another value, and no other", () => {
  const reported = (text: string, choice: Choice = ALLOWED) =>
    read({ [PRIORITY_MULTIPLIER]: text }, choice).warnings.map(({ message }) => message);
  assert.deepEqual(reported("50"), [`${PRIORITY_MULTIPLIER}: "50" counts as 10, the most`]);
  assert.deepEqual(reported("0.01"), [`${PRIORITY_MULTIPLIER}: "0.01" counts as 0.1, the least`]);
  for (const text of ["10", "0.1", "2.5"]) assert.deepEqual(reported(text), []);
  // A multiplier that may not count at all counts for nothing.
  assert.ok(!reported("50", {}).join().includes("counts as"));
});

pure("overridesOf() measures by the namespace's burst factor, label before annotation", () => {
  const both = { labels: { [BURST_FACTOR]: "1.5" }, theirs: { [BURST_FACTOR]: "9" } };
  assert.equal(read({}, both).burstFactor, 1.5);
  assert.equal(read({ [MAX_CPU]: "301m" }, both).maxCPU, undefined);
  assert.equal(read({ [MAX_CPU]: "300m" }, both).maxCPU, 300);
  assert.equal(read({}, { theirs: { [BURST_FACTOR]: "2" } }).burstFactor, 2);
  assert.equal(read({}, { labels: { [BURST_FACTOR]: "0.5" } }).burstFactor, 1);
  // The least ceiling holds unless a factor is 1 or a namespace sets one.
  const least = { leastCeiling: 500, originalLimits: [20, 200] };
  assert.deepEqual(read({}, least).burstCeilings, [500, 800]);
  assert.deepEqual(read({}, { ...least, burstFactor: 1 }).burstCeilings, [20, 200]);
  assert.deepEqual(read({}, { ...least, ...both }).burstCeilings, [30, 300]);
  assert.equal(read({ [MAX_CPU]: "1300m" }, least).maxCPU, 1300);
  assert.equal(read({ [MAX_CPU]: "1301m" }, least).maxCPU, undefined);
});

pure("overridesOf() reads a startup boost that boosts and ends", () => {
  const boost = (text: string) => read({ [STARTUP_BOOST]: text }, ALLOWED).startupBoost;
  assert.deepEqual(boost("2x,30s"), { factor: 2, holdMs: 30_000 });
  assert.deepEqual(boost(" 1.5x , 2m "), { factor: 1.5, holdMs: 120_000 });
  assert.deepEqual(boost("10x,10m"), { factor: 10, holdMs: 600_000 });
  assert.deepEqual(boost("3x,500ms"), { factor: 3, holdMs: 500 });
  const bad = [
    ...["", "x", "2", "2x,", ",30s", "2x 30s", "2x,30", "2x,30s,1x", "-2x,30s", "2x,-30s"],
    ...["1x,30s", "0.5x", "10.1x", "11x,1s", "2x,601s", "2x,11m", "2x,1h", "2X,30s", "2,5x,30s"],
    ...["Infinityx,1s", "NaNx", "2e3x", "0x2x", "٢x", "2x\n,30s;rm"],
  ];
  for (const text of bad) assert.equal(boost(text), undefined, text);
});

pure("overridesOf() warns of each value that it can't read", () => {
  const garbage = ["", "1,5", "-1", "NaN", "Infinity", "0x10", "ten", "1m1", "٣", "1".repeat(400)];
  for (const text of garbage) {
    const { warnings, ...rest } = read({ [MAX_CPU]: text, [PRIORITY_MULTIPLIER]: text }, {
      labels: { [BURST_FACTOR]: text },
    });
    assert.deepEqual([rest, warnings.length], [FACTOR_4, 3], text);
  }
});

pure("priorityMultiplier() has the worked values, never falls and stays within 0.1 and 10", () => {
  const worked = [[-1, 0.5], [0, 1], [1000, 1], [2000, 1.5], [4000, 2], [2e9, 10]] as const;
  for (const [priority, expected] of worked) assert.equal(priorityMultiplier(priority), expected);
  assert.equal(priorityMultiplier(1_000_000).toFixed(1), "6.0");
  const priority = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
  fc.assert(fc.property(priority, priority, (a, b) => {
    const [low, high] = [priorityMultiplier(Math.min(a, b)), priorityMultiplier(Math.max(a, b))];
    assert.ok(0.1 <= low && low <= high && high <= 10);
  }));
  assert.deepEqual([0, 0.1, 3, 10, 11].map(clampMultiplier), [0.1, 0.1, 3, 10, 10]);
});

const parse = (text: string) => valueOf(priorityTableKind, text);

pure("priorityTableKind reads ascending pairs of a priority and a factor in its bounds", () => {
  const row = (from: number, multiplier: number) => ({ from, multiplier });
  assert.deepEqual(parse("0:1,1000:2"), [row(0, 1), row(1000, 2)]);
  assert.deepEqual(parse(" -10:0.5 , 2000000000:10 "), [row(-10, 0.5), row(2_000_000_000, 10)]);
  assert.deepEqual([parse(""), parse(" , ")], [[], []]);
  // The row of the priority counts, and 1 below the first.
  const multipliers = [-1, 0, 999, 1000].map((one) => priorityMultiplier(one, parse("0:3,1000:2")));
  assert.deepEqual(multipliers, [1, 3, 3, 2]);
  const bad = [
    ...["0", "0:", ":1", "a:1", "0:b", "0:1:2", "0:1;1:2", "0.5:1", "1e3:1", "0:-1", "0: 1"],
    ...["0:0", "0:0.09", "0:10.1", "1000:2,0:1", "0:1,0:2", "0:1,x", "12345678901:1"],
  ];
  for (const text of bad) assert.equal(parse(text), undefined, text);
  assert.deepEqual([parse("0:0.1")?.length, parse("0:10")?.length], [1, 1]);
  assert.ok(parse(/instance (.*)$/.exec(kindMeta(priorityTableKind).expects)?.[1] ?? "?"));
});
