import assert from "node:assert/strict";
import type { PodContainer, Resources } from "../../shared/api/pod.ts";
import type { RecommendationReport } from "../../shared/api/recommendation_report.ts";
import type { PolicySpec, StoredPolicy } from "../../shared/rightsizing/policy_spec.ts";
import { reportParts } from "../../shared/rightsizing/reports.ts";
import type { ValuesInForce, WorkloadRecord } from "../../shared/rightsizing/workload_record.ts";
import {
  autoPolicy,
  bareContainer,
  MI,
  rightsizingFacts,
} from "../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import { sampleHPA, sampleVPA } from "../../tests/fixtures/sample_workloads.ts";
import {
  createCreationSurroundings,
  createCreationValues,
  createPodCreationMutator,
  type FoundSurroundings,
} from "./pod_creation.ts";
import type { AdmissionRequest } from "../../shared/admission/admission_review.ts";
import { applyJSONPatch } from "../../shared/admission/json_patch.ts";
import { silentLog } from "../../shared/log.ts";
import { seededRandom } from "../../shared/random.ts";
import { cacheSources } from "../../lab/simulation/api/cache_sources.ts";
import { createSimulatedAPI } from "../../lab/simulation/api/simulated_api.ts";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import { createCaches, namedCaches } from "../caches.ts";

const WEB = { kind: "Deployment", name: "web" } as const;

/** Deployment `web` under an HPA, a VPA, a LimitRange and a quota that can't be read. */
function stage() {
  const clock = createVirtualClock({ wallStart: 0 });
  const random = seededRandom(1);
  const api = createSimulatedAPI({ clock, random });
  const { tables } = api.store;
  const { workload: { kind, metadata, rollout, ...makes } } = rightsizingFacts();
  tables.Deployment.create({ kind, metadata, rollout, makes });
  tables.HorizontalPodAutoscaler.create(sampleHPA());
  tables.VerticalPodAutoscaler.create(sampleVPA("Auto"));
  const named = { name: "caps", namespace: "shop", uid: "", resourceVersion: "" };
  tables.LimitRange.create({ metadata: named, items: [{ type: "Container", max: 200 }] });
  const odd = { ...named, name: "odd" };
  tables.LimitRange.create({ metadata: odd, items: [], unreadable: "odd" });
  tables.Node.create({
    metadata: { name: "node-1", uid: "", resourceVersion: "" },
    allocatableCPU: 200,
    ready: true,
    pressures: [],
  });
  const caches = createCaches(cacheSources(api), { clock, random, log: silentLog });
  return { api, clock, caches, surroundingsOf: createCreationSurroundings(caches) };
}

Deno.test({
  name: "createCreationSurroundings() has the policies that apply, and those that can't be read",
  permissions: "none",
  async fn() {
    const { clock, caches, surroundingsOf } = stage();
    const end = new AbortController();
    const work = namedCaches(caches).map(([, copy]) => copy.run(end.signal));
    await clock.runUntil(1000);
    const found = surroundingsOf("shop", WEB);
    assert.equal(found?.autoscalers.length, 1);
    assert.equal(found.verticalAutoscalers.length, 1);
    assert.equal(found.ranges?.cpu?.container.max, 200);
    assert.deepEqual(found.largestNode, { allocatableCPU: 200, allocatableMemory: Infinity });
    assert.deepEqual(found.unreadable, ["LimitRange odd: odd"]);
    assert.equal(found.workload.template.containers.length, 1);
    assert.equal(surroundingsOf("shop", { kind: "StatefulSet", name: "web" }), undefined);
    assert.equal(surroundingsOf("shop", { kind: "Job", name: "web" }), undefined);
    end.abort();
    await clock.runUntil(60_000);
    await Promise.all(work);
  },
});

Deno.test({
  name: "createCreationSurroundings() knows nothing until all copies are whole",
  permissions: "none",
  async fn() {
    for (
      const lacks of ["verticalPodAutoscalers", "limitRanges", "resourceQuotas", "nodes"] as const
    ) {
      const { clock, caches, surroundingsOf } = stage();
      const end = new AbortController();
      const copies = Object.entries(caches).filter(([name]) => name !== lacks);
      const work = copies.map(([, copy]) => copy.run(end.signal));
      await clock.runUntil(1000);
      assert.equal(surroundingsOf("shop", WEB), undefined, lacks);
      end.abort();
      await clock.runUntil(60_000);
      await Promise.all(work);
    }
  },
});

const TEMPLATE = { requests: { cpu: 100, memory: 64 * MI }, limits: {} };
const IN_FORCE = [{
  container: "app",
  cpu: 180,
  memory: 96 * MI,
  adoptedOn: { cpu: 100, memory: 64 * MI },
}];
const ALL = { requests: { cpu: 180, memory: 96 * MI }, limits: {} };

function report(
  inForce: readonly ValuesInForce[],
  { resourceVersion = "1", ...fields }: Partial<WorkloadRecord> & { resourceVersion?: string } = {},
): RecommendationReport {
  const [part] = reportParts([{
    workload: { ...WEB, namespace: "shop" },
    policy: { namespace: "ops", name: "all" },
    status: "Applied",
    recommendations: [],
    inForce,
    ...fields,
  }]);
  return {
    apiVersion: "optipod.io/v1alpha1",
    kind: "RecommendationReport",
    metadata: { name: part?.name ?? "", namespace: "shop", uid: "u", resourceVersion },
    workloads: [...part?.workloads ?? []],
  };
}

interface Choice {
  readonly dryRun?: boolean;
  /** Of the workload, as the copy has it. */
  readonly template?: readonly PodContainer[];
  readonly around?: Partial<FoundSurroundings> | "unknown";
}

function valuesWith(
  spec: PolicySpec | undefined = autoPolicy(),
  { dryRun = false, template = [bareContainer("app", TEMPLATE)], around = {} }: Choice = {},
) {
  const reports = [report(IN_FORCE)];
  const policy = { spec } as StoredPolicy;
  const facts = rightsizingFacts({ containers: template });
  const values = createCreationValues({
    reports: { byIndex: (namespace) => namespace === "shop" ? reports : [] },
    policies: { get: (key) => key === "ops/all" ? policy : undefined },
    surroundingsOf: () => around === "unknown" ? undefined : { ...facts, ...around },
    dryRun: () => dryRun,
  });
  /** What a pod with these values is given. */
  const given = (sent: Resources = TEMPLATE): unknown =>
    values("shop", WEB)?.({ containers: [bareContainer("app", sent)], initContainers: [] })
      .get("app");
  return { reports, values, given };
}

test("createCreationValues() tells what is in force, and follows the reports", () => {
  const { reports, values, given } = valuesWith();
  assert.deepEqual(given(), ALL);
  assert.equal(values("shop", { kind: "StatefulSet", name: "web" }), undefined);
  assert.equal(values("bank", WEB), undefined);
  reports[0] = report([{ container: "app", cpu: 250 }], { resourceVersion: "2" });
  assert.deepEqual(given(), { requests: { cpu: 250 }, limits: {} });
  reports[0] = report([], { resourceVersion: "3" });
  assert.equal(values("shop", WEB), undefined);
});

test("createCreationValues() leaves pods to their template where nobody wants them changed", () => {
  for (
    const spec of [
      autoPolicy({}, { mode: "Recommend" }),
      autoPolicy({}, { mode: "Disabled" }),
      autoPolicy({ allowInPlaceResize: false, allowRecreate: true }),
    ]
  ) {
    assert.equal(valuesWith(spec).given(), undefined);
  }
  assert.equal(valuesWith(autoPolicy(), { dryRun: true }).given(), undefined);
});

test("createCreationValues() leaves a pod to its template where not all is known that bounds it", () => {
  assert.equal(valuesWith(autoPolicy(), { around: "unknown" }).given(), undefined);
  const around = { unreadable: ["LimitRange caps: no number"] };
  assert.equal(valuesWith(autoPolicy(), { around }).given(), undefined);
});

test("createCreationValues() leaves a resource to its author who has edited it, by the pod itself", () => {
  const { given } = valuesWith();
  const raised = { requests: { cpu: 100, memory: 1024 * MI }, limits: {} };
  // The copy of the template is older than the pod.
  assert.deepEqual(given(raised), { requests: { cpu: 180 }, limits: {} });
  const template = [
    bareContainer("app", { ...TEMPLATE, limits: { ...TEMPLATE.limits, memory: 4096 * MI } }),
  ];
  const limited = { ...TEMPLATE, limits: { ...TEMPLATE.limits, memory: 4096 * MI } };
  assert.deepEqual(valuesWith(autoPolicy(), { template }).given(limited), {
    requests: { cpu: 180 },
    limits: {},
  });
  // The template of a rollout is newer than the pod, which is of that of the adoption.
  assert.deepEqual(valuesWith(autoPolicy(), { template }).given(), ALL);
});

test("createCreationValues() takes what a LimitRange has written for nobody's edit", () => {
  const { given } = valuesWith();
  assert.deepEqual(
    given({ ...TEMPLATE, limits: { ...TEMPLATE.limits, cpu: 500, memory: 512 * MI } }),
    ALL,
  );
});

test("createCreationValues() gives nothing that an autoscaler sets, or a LimitRange forbids", () => {
  const vpa = { verticalAutoscalers: [sampleVPA("Initial")] };
  assert.equal(valuesWith(autoPolicy(), { around: vpa }).given(), undefined);
  const any = { min: 0, max: Infinity, ratio: Infinity };
  const ranges = { cpu: { container: { ...any, max: 150 }, pod: any } };
  const limited = { ...TEMPLATE, limits: { ...TEMPLATE.limits, cpu: 150 } };
  assert.deepEqual(valuesWith(autoPolicy(), { around: { ranges } }).given(limited), {
    ...ALL,
    requests: { ...ALL.requests, cpu: 150 },
  });
  const quotas = [{ name: "q", resource: "memory", of: "requests", room: 70 * MI }] as const;
  assert.deepEqual(valuesWith(autoPolicy(), { around: { quotas } }).given(), {
    ...ALL,
    requests: { ...ALL.requests, memory: 70 * MI },
  });
});

test("createCreationValues() gives no less memory than the peak on record + 15 %, where the pod has more", () => {
  const { reports, given } = valuesWith();
  const [min, p50, p90, p95, p99] = [MI, MI, MI, MI, MI];
  const memory = { samples: 20, min, p50, p90, p95, p99, max: 100 * MI };
  const adoptedOn = { cpu: 100, memory: 1024 * MI };
  reports[0] = report([{ container: "app", cpu: 180, memory: 96 * MI, adoptedOn }], {
    usage: [{ container: "app", memory }],
    resourceVersion: "2",
  });
  assert.deepEqual(given({ requests: { cpu: 100, memory: 1024 * MI }, limits: {} }), {
    requests: { cpu: 180, memory: 126.5 * MI },
    limits: {},
  });
});

test("createCreationValues() lowers memory to narrower bounds where the peak on record allows it", () => {
  const bounds = { cpu: { min: 10, max: 4000 }, memory: { min: MI, max: 80 * MI } };
  const { reports, given } = valuesWith(autoPolicy({}, { bounds }));
  assert.deepEqual(given(), ALL);
  const [min, p50, p90, p95, p99] = [MI, MI, MI, MI, MI];
  const memory = { samples: 20, min, p50, p90, p95, p99, max: 60 * MI };
  const usage = [{ container: "app", memory }];
  reports[0] = report(IN_FORCE, { usage, resourceVersion: "2" });
  assert.deepEqual(given(), { requests: { cpu: 180, memory: 80 * MI }, limits: {} });
});

function test(name: string, fn: () => void | Promise<void>): void {
  Deno.test({ name, permissions: "none", fn });
}

const VALUES = new Map([["app", { requests: { cpu: 180, memory: 96 * MI }, limits: {} }]]);
const valuesOf = (namespace: string, { kind, name }: { kind: string; name: string }) =>
  `${namespace}/${kind}/${name}` === "shop/Deployment/web" ? () => VALUES : undefined;
const mutator = createPodCreationMutator(valuesOf);
const signal = new AbortController().signal;

function podOf(owner: object | undefined, labels: object = { "pod-template-hash": "5d9c" }) {
  return {
    metadata: { labels, ...(owner === undefined ? {} : { ownerReferences: [owner] }) },
    spec: {
      containers: [{ name: "app", resources: { requests: { cpu: "100m", memory: "64Mi" } } }],
    },
  };
}

const REPLICA_SET = {
  apiVersion: "apps/v1",
  kind: "ReplicaSet",
  name: "web-5d9c",
  uid: "rs",
  controller: true,
};

function request(object: object, fields: Partial<AdmissionRequest> = {}): AdmissionRequest {
  return {
    uid: "1",
    kind: "Pod",
    resource: "pods",
    operation: "CREATE",
    namespace: "shop",
    name: "",
    dryRun: false,
    object: object as Readonly<Record<string, unknown>>,
    ...fields,
  };
}

test("createPodCreationMutator() gives a new pod what is in force for its workload, and no more", async () => {
  const pod = podOf(REPLICA_SET);
  const mutation = await mutator.mutate(request(pod), signal);
  const after = applyJSONPatch(pod, mutation?.patch ?? []);
  assert.deepEqual(after, {
    ...pod,
    spec: {
      containers: [{ name: "app", resources: { requests: { cpu: "180m", memory: "96Mi" } } }],
    },
  });
  // Asked again about what it has changed, there is nothing left to do.
  assert.equal(await mutator.mutate(request(after as object), signal), undefined);
});

test("createPodCreationMutator() leaves all else alone", async () => {
  const pod = podOf(REPLICA_SET);
  for (
    const other of [
      request(pod, { namespace: "bank" }),
      request(pod, { operation: "UPDATE" }),
      request(pod, { resource: "pods/resize" }),
      request(podOf(undefined)),
      request(podOf({ ...REPLICA_SET, controller: false })),
      request(podOf({ ...REPLICA_SET, name: "db-5d9c" })),
      request(podOf(REPLICA_SET, {})),
      request(podOf({ ...REPLICA_SET, name: 7 }, { "pod-template-hash": 5 })),
    ]
  ) {
    assert.equal(await mutator.mutate(other, signal), undefined);
  }
});
