import fc from "fast-check";
import assert from "node:assert/strict";
import type { AdmissionRequest } from "../../shared/admission/admission_review.ts";
import type { JSONPatchOperation } from "../../shared/admission/json_patch.ts";
import type {
  HorizontalPodAutoscaler,
  VerticalPodAutoscaler,
} from "../../shared/api/autoscalers.ts";
import type { LimitRange, ResourceQuota } from "../../shared/api/namespace.ts";
import type { ApiObject } from "../../shared/api/object.ts";
import type { PodContainer, Resources } from "../../shared/api/pod.ts";
import type { RecommendationReport } from "../../shared/api/recommendation_report.ts";
import { qosClassOf } from "../../shared/resize/inputs/qos.ts";
import { withDefaultRequests } from "../../shared/resize/inputs/resources.ts";
import type { PolicySpec, StoredPolicy } from "../../shared/rightsizing/policy_spec.ts";
import { reportParts } from "../../shared/rightsizing/reports.ts";
import {
  amountsOfResources,
  type ValuesInForce,
  type WorkloadRecord,
} from "../../shared/rightsizing/workload_record.ts";
import { sampleNode } from "../../tests/contract/support/sample_objects.ts";
import { fixedCache, marketCaches } from "../../tests/fixtures/caches.ts";
import { UNBOUNDED } from "../../tests/fixtures/market/decide_claim.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { anySentPod } from "../../tests/fixtures/rightsizing/rightsizing_arbitrary.ts";
import { createdPod } from "../../tests/fixtures/rightsizing/rightsizing_patches.ts";
import {
  autoPolicy,
  bareContainer,
  MI,
  rightsizingSnapshot,
} from "../../tests/fixtures/rightsizing/rightsizing_snapshot.ts";
import { sampleHPA, sampleVPA } from "../../tests/fixtures/sample_workloads.ts";
import { applyJSONPatch } from "../../tests/fixtures/webhook/apply_json_patch.ts";
import { createCreationValues, createPodCreationMutator } from "./pod_creation.ts";

const WEB = { kind: "Deployment", name: "web" } as const;

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
  /** Containers of the workload's template, as the cache has it. */
  readonly template?: readonly PodContainer[];
  readonly hpas?: readonly HorizontalPodAutoscaler[];
  readonly vpas?: readonly VerticalPodAutoscaler[];
  readonly ranges?: readonly Omit<LimitRange, "metadata">[];
  readonly quotas?: readonly Partial<ResourceQuota>[];
  readonly nodeCPU?: number;
  /** The cache that is not in sync. */
  readonly lacks?: string;
}

function valuesWith(
  spec: PolicySpec | undefined = autoPolicy(),
  { dryRun = false, template = [bareContainer("app", TEMPLATE)], nodeCPU, lacks, ...choice }:
    Choice = {},
) {
  const reports = [report(IN_FORCE)];
  const policy = { spec } as StoredPolicy;
  const { kind, metadata, rollout, ...workloadSpec } =
    rightsizingSnapshot({ containers: template }).workload;
  const named = { name: "caps", namespace: "shop", uid: "", resourceVersion: "" };
  const cache = <T extends ApiObject>(name: string, objects: readonly T[] = []) =>
    fixedCache(objects, name !== lacks);
  const nodes = nodeCPU === undefined ? [] : [{ ...sampleNode("node-1"), allocatableCPU: nodeCPU }];
  const values = createCreationValues({
    reports: { byIndex: (namespace) => namespace === "shop" ? reports : [] },
    policies: { get: (key) => key === "ops/all" ? policy : undefined },
    caches: {
      ...marketCaches(),
      deployments: fixedCache([{ kind, metadata, rollout, spec: workloadSpec }]),
      horizontalPodAutoscalers: cache("horizontalPodAutoscalers", choice.hpas),
      verticalPodAutoscalers: cache("verticalPodAutoscalers", choice.vpas),
      limitRanges: cache(
        "limitRanges",
        (choice.ranges ?? []).map((range) => ({ metadata: named, ...range })),
      ),
      resourceQuotas: cache(
        "resourceQuotas",
        (choice.quotas ?? []).map((quota) => ({
          ...{ metadata: named, bounds: {}, scopes: [] },
          ...quota,
        })),
      ),
      nodes: cache("nodes", nodes),
    },
    dryRun: () => dryRun,
  });
  const given = (sent: Resources = TEMPLATE): unknown =>
    values("shop", WEB)?.({ containers: [bareContainer("app", sent)], initContainers: [] })
      .get("app");
  return { reports, values, given };
}

pure("createCreationValues() has the values in force, and follows the reports", () => {
  const { reports, values, given } = valuesWith();
  assert.deepEqual(given(), ALL);
  assert.equal(values("shop", { kind: "StatefulSet", name: "web" }), undefined);
  assert.equal(values("bank", WEB), undefined);
  reports[0] = report([{ container: "app", cpu: 250 }], { resourceVersion: "2" });
  assert.deepEqual(given(), { requests: { cpu: 250 }, limits: {} });
  reports[0] = report([], { resourceVersion: "3" });
  assert.equal(values("shop", WEB), undefined);
  // Where a crash left two records, what was applied last counts.
  const old = report(IN_FORCE, { appliedAtMs: 1000 });
  const recent = report([{ container: "app", cpu: 250 }], { appliedAtMs: 2000 });
  for (const both of [[old, recent], [recent, old]]) {
    reports.splice(0, 2, ...both);
    assert.deepEqual(given(), { requests: { cpu: 250 }, limits: {} });
  }
});

pure("createCreationValues() leaves pods to their template where no policy changes them", () => {
  const modes = (["Recommend", "Disabled"] as const).map((mode) => autoPolicy({}, { mode }));
  for (const spec of [...modes, autoPolicy({ allowInPlaceResize: false, allowRecreate: true })]) {
    assert.equal(valuesWith(spec).given(), undefined);
  }
  assert.equal(valuesWith(autoPolicy(), { dryRun: true }).given(), undefined);
});

pure("createCreationValues() leaves a pod alone where a bound is not known", () => {
  const names = ["horizontalPodAutoscalers", "verticalPodAutoscalers", "limitRanges"];
  for (const lacks of [...names, "resourceQuotas", "nodes"]) {
    assert.equal(valuesWith(autoPolicy(), { lacks }).given(), undefined, lacks);
  }
  const ranges = [{ items: [], unreadable: "no number" }];
  assert.equal(valuesWith(autoPolicy(), { ranges }).given(), undefined);
});

pure("createCreationValues() leaves a resource to the author that edited it", () => {
  const { given } = valuesWith();
  const raised = { requests: { cpu: 100, memory: 1024 * MI }, limits: {} };
  const onlyCPU = { requests: { cpu: 180 }, limits: {} };
  // The copy of the template is older than the pod.
  assert.deepEqual(given(raised), onlyCPU);
  const limited = { ...TEMPLATE, limits: { memory: 4096 * MI } };
  const template = [bareContainer("app", limited)];
  assert.deepEqual(valuesWith(autoPolicy(), { template }).given(limited), onlyCPU);
  // The template of a rollout is newer than the pod, which is of that of the adoption.
  assert.deepEqual(valuesWith(autoPolicy(), { template }).given(), ALL);
  // Defaults of a LimitRange are no edit.
  assert.deepEqual(given({ ...TEMPLATE, limits: { cpu: 500, memory: 512 * MI } }), ALL);
});

pure("createCreationValues() gives nothing that an autoscaler or a bound forbids", () => {
  const within = (choice: Choice, sent?: Resources) => valuesWith(autoPolicy(), choice).given(sent);
  const lower = (requests: Resources["requests"]) => ({
    ...{ requests: { ...ALL.requests, ...requests }, limits: {} },
  });
  assert.equal(within({ vpas: [sampleVPA("Initial")] }), undefined);
  const onlyMemory = { requests: { memory: ALL.requests.memory }, limits: {} };
  assert.deepEqual(within({ hpas: [sampleHPA()] }), onlyMemory);
  const ranges = [{ items: [{ type: "Container", max: 150 }] as const }];
  assert.deepEqual(within({ ranges }, { ...TEMPLATE, limits: { cpu: 150 } }), lower({ cpu: 150 }));
  const bounds = { "requests.memory": { hard: 70 * MI, used: 0 } };
  assert.deepEqual(within({ quotas: [{ bounds }] }), lower({ memory: 70 * MI }));
  assert.deepEqual(within({ nodeCPU: 120 }), lower({ cpu: 120 }));
});

pure("createCreationValues() gives no less memory than the peak + 15 %", () => {
  const bounds = { cpu: { min: 10, max: 4000 }, memory: { min: MI, max: 80 * MI } };
  const narrow = autoPolicy({}, { bounds });
  const large = { requests: { cpu: 100, memory: 1024 * MI }, limits: {} };
  const adopted = [{ ...IN_FORCE[0], adoptedOn: large.requests }] as typeof IN_FORCE;
  const figures = { samples: 20, min: MI, p50: MI, p90: MI, p95: MI, p99: MI };
  const rows = [
    [autoPolicy(), adopted, large, 100 * MI, 126.5 * MI],
    [narrow, IN_FORCE, TEMPLATE, undefined, 96 * MI],
    [narrow, IN_FORCE, TEMPLATE, 60 * MI, 80 * MI],
  ] as const;
  for (const [policy, inForce, sent, peak, expected] of rows) {
    const { reports, given } = valuesWith(policy);
    const usage = peak === undefined
      ? {}
      : { usage: [{ container: "app", memory: { ...figures, max: peak } }] };
    reports[0] = report(inForce, usage);
    assert.deepEqual(given(sent), { requests: { cpu: 180, memory: expected }, limits: {} });
  }
});

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
    ...{ uid: "1", kind: "Pod", resource: "pods", operation: "CREATE", dryRun: false },
    ...{ namespace: "shop", name: "" },
    object: object as Readonly<Record<string, unknown>>,
    ...fields,
  };
}

pure("createPodCreationMutator() gives a new pod what is in force", async () => {
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

pure("createPodCreationMutator() leaves all else alone", async () => {
  const pod = podOf(REPLICA_SET);
  const requests = [{ namespace: "bank" }, { operation: "UPDATE" }, { resource: "pods/resize" }]
    .map((fields) => request(pod, fields as Partial<AdmissionRequest>));
  const pods = [
    ...[podOf(undefined), podOf({ ...REPLICA_SET, controller: false })],
    ...[podOf({ ...REPLICA_SET, name: "db-5d9c" }), podOf(REPLICA_SET, {})],
  ];
  for (const other of [...requests, ...pods.map((one) => request(one))]) {
    assert.equal(await mutator.mutate(other, signal), undefined);
  }
});

const sized = (...containers: readonly object[]) => ({ spec: { containers } });

/** The steps for a pod of the Deployment of which these values are in force, bounded by nothing. */
async function stepsWith(
  { spec }: { readonly spec: object },
  inForce: readonly ValuesInForce[],
): Promise<readonly JSONPatchOperation[]> {
  const { reports, values } = valuesWith(
    autoPolicy({ updateRequestsOnly: false }, { bounds: { cpu: UNBOUNDED, memory: UNBOUNDED } }),
  );
  reports[0] = report(inForce);
  const { mutate } = createPodCreationMutator(values);
  return (await mutate(request({ ...podOf(REPLICA_SET), spec }), signal))?.patch ?? [];
}

/** The steps for `app`: `replace 1/requests/cpu 150m`, by place of the container and the path below. */
async function stepsFor(pod: { readonly spec: object }, app: Partial<Resources>) {
  const values = amountsOfResources({ requests: {}, limits: {}, ...app });
  const steps = await stepsWith(pod, [{ container: "app", ...values }]);
  return steps.map((step) => {
    const value = "value" in step ? step.value : undefined;
    const below = step.path.replace("/spec/containers/", "").replace("resources/", "");
    return `${step.op} ${below} ${typeof value === "string" ? value : JSON.stringify(value)}`;
  });
}

const burstable = {
  name: "app",
  image: "app:1",
  resources: { requests: { cpu: "100m" }, limits: { cpu: "0.2", memory: "128Mi" } },
};
const open = { name: "log", resources: { requests: { cpu: "1m" } } };
const bare = { name: "app" };

pure("createPodCreationMutator() adds or replaces values, and keeps the QoS class", async () => {
  const { requests: _none, ...limits } = burstable.resources;
  const asked = { requests: { cpu: 150, memory: 96 * MI } };
  const quantities = '{"cpu":"150m","memory":"96Mi"}';
  const same = { cpu: "200m", memory: "128Mi" };
  const guaranteed = sized({ name: "app", resources: { requests: same, limits: same } });
  const defaulted = sized({ name: "app", resources: { limits: { memory: "64Mi" } } }, open);
  const core = sized({ name: "app", resources: { requests: { cpu: "1" } } });
  const podLevel = (cpu: string) => ({
    spec: { containers: [burstable], resources: { requests: { cpu } } },
  });
  const rows: readonly (readonly [
    pod: { readonly spec: object },
    app: Partial<Resources>,
    steps: readonly string[],
  ])[] = [
    [sized({ name: "log" }, burstable), asked, [
      "replace 1/requests/cpu 150m",
      "add 1/requests/memory 96Mi",
    ]],
    [sized({ ...burstable, resources: limits }, open), asked, [`add 0/requests ${quantities}`]],
    [sized(bare, open), asked, [`add 0/resources {"requests":${quantities}}`]],
    // The values are the same, however they are written.
    [sized(burstable), { requests: { cpu: 100 }, limits: { cpu: 200, memory: 128 * MI } }, []],
    [sized(burstable), {}, []],
    [sized(open), asked, []],
    // Its memory request is its limit, so that a CPU request at the limit would make it Guaranteed.
    [sized(burstable), { requests: { cpu: 900 } }, ["replace 0/requests/cpu 199m"]],
    [sized(bare), { requests: { cpu: 900 } }, []],
    // Both halves in a Guaranteed pod, or neither.
    [guaranteed, { requests: { cpu: 100 } }, []],
    [
      guaranteed,
      { requests: { cpu: 100 }, limits: { cpu: 120 } },
      ["replace 0/requests/cpu 100m", "replace 0/limits/cpu 100m"],
    ],
    // A request that has only been the default for its limit is written down.
    [
      defaulted,
      { requests: { memory: 64 * MI }, limits: { memory: 128 * MI } },
      ['add 0/requests {"memory":"64Mi"}', "replace 0/limits/memory 128Mi"],
    ],
    [defaulted, { requests: { memory: 64 * MI } }, []],
    [podLevel("120m"), { requests: { cpu: 150 } }, []],
    [podLevel("150m"), { requests: { cpu: 150 } }, ["replace 0/requests/cpu 150m"]],
    // The server would take a limit for the request where there is none.
    [sized(bare), { limits: { cpu: 1000, memory: MI } }, []],
    [core, { limits: { memory: MI } }, []],
    [core, { limits: { cpu: 2000 } }, ['add 0/limits {"cpu":"2"}']],
  ];
  for (const [index, [pod, app, steps]] of rows.entries()) {
    assert.deepEqual(await stepsFor(pod, app), steps, `${index}`);
  }
});

pure("createPodCreationMutator() keeps class, limits and init containers of any pod", async () => {
  const amount = fc.integer({ min: 1, max: 50 });
  const amounts = fc.record({ cpu: amount.map((cores) => cores * 1000), memory: amount }, {
    requiredKeys: [],
  });
  const value = fc.record({ requests: amounts, limits: amounts });
  const values = fc.dictionary(fc.constantFrom("c0", "c1", "c2", "i0", "i1"), value)
    .map((all) =>
      Object.entries(all).map(([container, one]) => ({ container, ...amountsOfResources(one) }))
    );
  const all = (pod: unknown) => {
    const { containers, initContainers } = createdPod(pod).template;
    return [...containers, ...initContainers].map(withDefaultRequests);
  };
  let changed = 0;
  await fc.assert(fc.asyncProperty(anySentPod, values, async (pod, asked) => {
    const before = JSON.stringify(pod);
    const steps = await stepsWith(pod, asked);
    changed += steps.length;
    const after = applyJSONPatch(pod, steps) as typeof pod;
    assert.equal(JSON.stringify(pod), before);
    assert.equal(qosClassOf(all(after)), qosClassOf(all(pod)));
    assert.deepEqual(after.spec.initContainers, pod.spec.initContainers);
    for (const { requests, limits } of all(after)) {
      assert.ok((requests.cpu ?? 0) <= (limits.cpu ?? Infinity));
      assert.ok((requests.memory ?? 0) <= (limits.memory ?? Infinity));
    }
    const again = await stepsWith(after, asked);
    assert.deepEqual(again, [], "a second time there is nothing to do");
  }));
  assert.ok(changed > 100, `${changed}`);
});
