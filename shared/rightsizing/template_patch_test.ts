import fc from "fast-check";
import assert from "node:assert/strict";
import { cpuLimits, sampleQuota } from "../../tests/contract/support/sample_objects.ts";
import { forAll } from "../../tests/fixtures/for_all.ts";
import { UNBOUNDED } from "../../tests/fixtures/market/decide_claim.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { OWNS_NOTHING } from "../../tests/fixtures/rightsizing/rightsizing_patches.ts";
import {
  bareContainer,
  MI,
  recommendation,
  rightsizingSnapshot,
  templateContainer,
} from "../../tests/fixtures/rightsizing/rightsizing_snapshot.ts";
import { sampleWorkload } from "../../tests/fixtures/sample_workloads.ts";
import type { QuotaScope, ResourceQuota } from "../api/namespace.ts";
import type { PodTemplate, ResourceField } from "../api/workload.ts";
import type { ScopedPod } from "../resize/checks/resource_quota.ts";
import { rightsizedWorkload } from "./guards/rightsizing_snapshot.ts";
import { largestNode, namespaceRules } from "./namespace_bounds.ts";
import { publishedVPA } from "./published_vpa.ts";
import { type OwnedFields, ownedFields, templateOwners, templatePatch } from "./template_patch.ts";
import { annotationPatch, isOwnAnnotation, workloadAnnotations } from "./workload_annotations.ts";
import type { WorkloadRecord } from "./workload_record.ts";

const { workload } = rightsizingSnapshot({
  containers: [
    templateContainer(),
    templateContainer({ name: "log", requests: { cpu: 30 } }),
    templateContainer({ name: "proxy", sidecar: true, limits: { cpu: 50 } }),
  ],
});
const wanted = new Map([["app", { requests: { cpu: 150, memory: 96 * MI }, limits: {} }]]);

/** Fields by container: `limits.cpu limits.memory`. */
function fields(all: Readonly<Record<string, string>>): OwnedFields["containers"] {
  return new Map(
    Object.entries(all).map(([name, names]) =>
      [name, new Set(names.split(" ") as ResourceField[])] as const
    ),
  );
}

pure("templatePatch() is one patch for all containers, of resources alone, under the UID", () => {
  const app = { name: "app", resources: { requests: { cpu: "150m", memory: "96Mi" } } };
  const metadata = { name: "web", namespace: "shop", uid: "uid-web" };
  const spec = { template: { spec: { containers: [app] } } };
  assert.deepEqual(templatePatch(workload, { wanted, owned: OWNS_NOTHING }), {
    ...{ contentType: "application/apply-patch+yaml", fieldManager: "optipod", force: true },
    body: { apiVersion: "apps/v1", kind: "Deployment", metadata, spec },
  });
  const log = "requests.cpu requests.memory";
  const owned: OwnedFields = {
    containers: fields({ app: "limits.memory", log, gone: "requests.cpu" }),
    initContainers: fields({ proxy: "limits.cpu" }),
  };
  // Without server-side apply what changes, and no more.
  assert.deepEqual(templatePatch(workload, { wanted, owned }, { serverSideApply: false }), {
    contentType: "application/strategic-merge-patch+json",
    ...{ fieldManager: "optipod", force: false, body: { metadata, spec } },
  });
  // With it what is owned is named again, for every container.
  assert.deepEqual(templatePatch(workload, { wanted, owned }).body.spec.template.spec, {
    containers: [
      { name: "app", resources: { ...app.resources, limits: { memory: "128Mi" } } },
      { name: "log", resources: { requests: { cpu: "30m", memory: "64Mi" } } },
    ],
    initContainers: [{ name: "proxy", resources: { limits: { cpu: "50m" } } }],
  });
});

const cpuLimit = { "f:resources": { "f:limits": { "f:cpu": {} } } };
const requests = { "f:resources": { "f:requests": { "f:cpu": {}, "f:memory": {} } } };

function managed(manager: unknown, containers: object, initContainers: object = {}) {
  const spec = { "f:containers": containers, "f:initContainers": initContainers };
  const fieldsV1 = { "f:spec": { "f:template": { "f:spec": spec } } };
  return { manager, operation: "Apply", fieldsV1 };
}

const entry = managed("optipod", {
  'k:{"name":"app"}': { ...requests, "f:image": {} },
  'k:{"name":"log"}': { "f:resources": { "f:limits": { "f:memory": {} } } },
  'k:{"name":"bare"}': { "f:image": {} },
  "k:{": requests,
  ".": {},
}, { 'k:{"name":"proxy"}': cpuLimit });

pure("ownedFields() reads what a manager has applied", () => {
  assert.deepEqual(ownedFields([entry], "optipod"), {
    containers: fields({ app: "requests.cpu requests.memory", log: "limits.memory" }),
    initContainers: fields({ proxy: "limits.cpu" }),
  });
  const changes = [{ manager: "kubectl" }, { operation: "Update" }, { fieldsV1: "f:spec" }];
  const others = [...changes.map((change) => [{ ...entry, ...change }]), [null, 7, {}], "text"];
  for (const one of others) assert.deepEqual(ownedFields(one, "optipod"), OWNS_NOTHING);
  assert.deepEqual(ownedFields(undefined, "optipod"), OWNS_NOTHING);
});

pure("templateOwners() reads each value's last manager, and its time", () => {
  const helm = { ...managed("helm", { 'k:{"name":"app"}': cpuLimit }), operation: "Update" };
  const at = (day: number) => ({ time: `2026-01-0${day}T00:00:00Z` });
  const of = (manager: string, day: number) => ({ manager, atMs: Date.UTC(2026, 0, day) });
  const applied = { ...entry, ...at(2) };
  const valuesOf = (last: unknown) => ({ "requests.cpu": last, "requests.memory": last });
  for (const day of [1, 3]) {
    const other = { ...helm, ...at(day) };
    const again = { ...entry, manager: "kubectl", ...at(day) };
    const last = day === 1 ? of("optipod", 2) : of("kubectl", day);
    for (const entries of [[applied, other, again], [again, other, applied]]) {
      assert.deepEqual(templateOwners(entries), {
        app: { ...valuesOf(last), "limits.cpu": of("helm", day) },
        log: { "limits.memory": last },
      });
    }
  }
  const named = { ...managed("helm", { 'k:{"name":"constructor"}': requests }), ...at(1) };
  assert.deepEqual(templateOwners([named]), { constructor: valuesOf(of("helm", 1)) });
  for (const entries of [[helm], [{ ...helm, time: "soon" }], [{ ...at(1) }], undefined, "text"]) {
    assert.equal(templateOwners(entries), undefined);
  }
});

pure("rightsizedWorkload() is the workload with its template, as far as that can be read", () => {
  const template = { containers: [templateContainer()], initContainers: [] };
  const spec = { paused: true, replicas: 4, template };
  const { kind, metadata, rollout } = sampleWorkload();
  const read = rightsizedWorkload({ ...sampleWorkload(), spec });
  assert.deepEqual(read, { kind, metadata, rollout, ...spec });
  const unreadable = { ...sampleWorkload(), unreadableTemplate: "Cannot read it" };
  assert.equal(rightsizedWorkload(unreadable), undefined);
});

const TEMPLATE: PodTemplate = {
  containers: [bareContainer("app", { requests: { cpu: 100 }, limits: {} })],
  initContainers: [],
};
const RUNNING: ScopedPod = { qosClass: "Burstable" };
const metadata = { name: "r", namespace: "shop", uid: "", resourceVersion: "" };
const range = { metadata, items: [{ type: "Pod", memory: { max: 5 } }] } as const;

function rooms(
  quotas: readonly ResourceQuota[],
  { pods = [RUNNING], template = TEMPLATE }: {
    readonly pods?: readonly ScopedPod[];
    readonly template?: PodTemplate;
  } = {},
): string {
  return namespaceRules({ limitRanges: [], quotas }, { pods, template }).quotas
    .map(({ name, resource, side, room }) => `${name} ${side}.${resource} ${room}`).join(", ");
}

function scoped(name: string, values: readonly string[] = []): readonly ResourceQuota[] {
  const scope: QuotaScope = { name, operator: values.length > 0 ? "In" : "Exists", values };
  return [sampleQuota({ scopes: [scope] })];
}

pure("namespaceRules() has the room of each bound of a quota, also below nothing", () => {
  const both = sampleQuota({
    bounds: {
      ...{ ...cpuLimits(1000, 700).bounds, "requests.cpu": { hard: 500, used: 600 } },
      "requests.memory": { hard: 1000, used: 100 },
      "limits.memory": { hard: 2000, used: 2000 },
    },
  });
  const four = "cpu requests.cpu -100, cpu limits.cpu 300, cpu requests.memory 900";
  assert.equal(rooms([both]), `${four}, cpu limits.memory 0`);
  const memory = { "limits.memory": { hard: 9, used: 2 } };
  const three = [sampleQuota({ bounds: {} }), sampleQuota({ bounds: memory }), sampleQuota()];
  assert.equal(rooms(three), "cpu limits.memory 7, cpu limits.cpu 300");
});

pure("namespaceRules() keeps to quotas that count a pod or one to come, by their scopes", () => {
  const high = scoped("PriorityClass", ["high"]);
  const made = (change: Partial<PodTemplate>) => ({ template: { ...TEMPLATE, ...change } });
  const bare = [bareContainer("app", {})];
  const [COUNTED, NOT] = ["cpu limits.cpu 300", ""];
  const rows:
    readonly (readonly [readonly ResourceQuota[], Parameters<typeof rooms>[1], string])[] = [
      [scoped("NotBestEffort"), {}, COUNTED],
      [scoped("BestEffort"), {}, NOT],
      [scoped("Terminating"), {}, NOT],
      [scoped("Terminating"), { pods: [RUNNING, { ...RUNNING, hasDeadline: true }] }, COUNTED],
      [high, {}, NOT],
      [high, { pods: [{ ...RUNNING, priorityClassName: "high" }] }, COUNTED],
      // New pods count where the old ones do not, and where there are none.
      [high, made({ priorityClassName: "high" }), COUNTED],
      [high, { pods: [], ...made({ priorityClassName: "high" }) }, COUNTED],
      [scoped("Terminating"), { pods: [], ...made({ hasDeadline: true }) }, COUNTED],
      [scoped("BestEffort"), { pods: [], ...made({ containers: bare }) }, COUNTED],
    ];
  for (const [index, [quotas, counted, expected]] of rows.entries()) {
    assert.equal(rooms(quotas, counted), expected, `${index}`);
  }
});

pure("namespaceRules() has the LimitRanges, and names each that can't be read", () => {
  const of = (...limitRanges: Parameters<typeof namespaceRules>[0]["limitRanges"]) =>
    namespaceRules({ limitRanges, quotas: [] }, { pods: [], template: TEMPLATE });
  const ranges = { memory: { container: UNBOUNDED, pod: { ...UNBOUNDED, max: 5 } } };
  assert.deepEqual(of(range), { ranges, quotas: [], unreadable: [] });
  assert.deepEqual(of(), { quotas: [], unreadable: [] });
  const unreadable = "its limits are negative";
  assert.deepEqual(of({ ...range, unreadable }, range).unreadable, [`LimitRange r: ${unreadable}`]);
});

pure("largestNode() is the most of each resource, any amount where a node has no figure", () => {
  const node = (allocatableCPU: number, allocatableMemory?: number) => ({
    ...{ allocatableCPU, ...(allocatableMemory !== undefined && { allocatableMemory }) },
  });
  assert.deepEqual(largestNode([node(2000, 9000), node(4000, 8000)]), node(4000, 9000));
  assert.deepEqual(largestNode([node(2000, 9000), node(0)]), node(Infinity, Infinity));
  assert.equal(largestNode([]), undefined);
});

const NAMED = { namespace: "shop", name: "web" };
const RECORD: WorkloadRecord = {
  workload: { kind: "Deployment", ...NAMED },
  ...{ policy: NAMED, status: "Recommended", inForce: [] } as const,
  recommendedAtMs: Date.UTC(2026, 0, 2, 3, 4, 5),
  recommendations: [recommendation({ memory: 88_617_123 })],
};
const TIME = "optipod.io/last-recommendation";
const written = workloadAnnotations(RECORD);

function namesOf(container: string): readonly string[] {
  const recommendations = [recommendation({ container })];
  return Object.keys(workloadAnnotations({ ...RECORD, recommendations })).slice(3);
}

pure("workloadAnnotations() has policy, times and each value as plain quantities", () => {
  assert.deepEqual(written, {
    "optipod.io/managed": "true",
    "optipod.io/policy": "shop/web",
    [TIME]: "2026-01-02T03:04:05.000Z",
    "optipod.io/recommendation.app.cpu-request": "150m",
    "optipod.io/recommendation.app.memory-request": "88617123",
    "optipod.io/recommendation.app.cpu-limit": "180m",
    "optipod.io/recommendation.app.memory-limit": "112Mi",
  });
  const { cpuLimit: _cpu, memoryLimit: _memory, ...requests } = recommendation();
  const recommendations = [requests];
  const applied = workloadAnnotations({ ...RECORD, appliedAtMs: 1000, recommendations });
  assert.equal(applied["optipod.io/last-applied"], "1970-01-01T00:00:01.000Z");
  assert.ok(!Object.keys(applied).some((name) => name.endsWith("-limit")));
  const { recommendedAtMs: _time, ...none } = RECORD;
  assert.deepEqual([workloadAnnotations(none), workloadAnnotations(undefined)], [{}, {}]);
});

pure("workloadAnnotations() shortens long names with a hash that stays the same", () => {
  const value = (length: number) => namesOf("a".repeat(length))[2];
  assert.equal(value(33), `optipod.io/recommendation.${"a".repeat(33)}.cpu-limit`);
  // FNV-1a of 64 bits, computed by other means.
  assert.equal(value(34), `optipod.io/recommendation.${"a".repeat(16)}_9a5f68fe5a051217.cpu-limit`);
});

const label = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/);
// Names that differ in their end alone are those that shortening could confuse.
const alike = fc.tuple(fc.integer({ min: 20, max: 60 }), fc.stringMatching(/^[a-z]{1,3}$/))
  .map(([length, end]) => `${"x".repeat(length)}${end}`.slice(0, 63));

forAll("workloadAnnotations() has valid names, and another one for each container and value", [
  fc.uniqueArray(fc.oneof(label, alike), { minLength: 2, maxLength: 20 }),
], (containers) => {
  const all = containers.flatMap(namesOf);
  assert.equal(new Set(all).size, 4 * containers.length);
  for (const name of all) {
    assert.ok(isOwnAnnotation(name));
    assert.match(name, /^optipod\.io\/(?=.{1,63}$)[a-z0-9A-Z]([-a-z0-9A-Z_.]*[a-z0-9A-Z])?$/);
  }
}, 1);

pure("annotationPatch() sets what differs, removes what is gone, and leaves others alone", () => {
  const others = { "optipod.io/something-else": "x", "team": "shop", "mbcas.io/managed": "true" };
  const stale = { "optipod.io/recommendation.gone.cpu-request": "5m" };
  const { "optipod.io/policy": _policy, ...rest } = written;
  const { [TIME]: _time, ...untimed } = written;
  const later = { ...written, [TIME]: "2026-01-02T03:09:05.000Z" };
  const applied = { "optipod.io/last-applied": "2026-01-02T03:09:06.000Z" };
  const all = Object.fromEntries(Object.keys(written).map((name) => [name, null]));
  const rows = [
    [{ ...others, ...written }, written, undefined],
    [
      { ...others, ...rest, ...stale },
      written,
      { "optipod.io/policy": "shop/web", "optipod.io/recommendation.gone.cpu-request": null },
    ],
    // No new time of the same recommendation, but along with something else.
    [written, later, undefined],
    [untimed, later, { [TIME]: later[TIME] }],
    [written, { ...later, ...applied }, { [TIME]: later[TIME], ...applied }],
    // All go when no policy applies, once.
    [{ ...written, team: "shop" }, {}, all],
    [{ team: "shop" }, {}, undefined],
  ] as const;
  for (const [present, next, expected] of rows) {
    assert.deepEqual(annotationPatch(present, next)?.metadata.annotations, expected);
  }
});

const { workload: deployment } = rightsizingSnapshot();

pure("publishedVPA() is in mode Off, owned by its workload, in plain quantities", () => {
  const all = [recommendation({ memory: 88_617_123 }), recommendation({ container: "log" })];
  const web = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };
  assert.deepEqual(publishedVPA(deployment, all), {
    apiVersion: "autoscaling.k8s.io/v1",
    kind: "VerticalPodAutoscaler",
    metadata: {
      name: "optipod-deployment-web",
      namespace: "shop",
      labels: { "app.kubernetes.io/managed-by": "mbcas-controller" },
      ownerReferences: [{ ...web, uid: "uid-web" }],
    },
    spec: {
      ...{ targetRef: web, updatePolicy: { updateMode: "Off" } },
      recommenders: [{ name: "optipod" }],
    },
    status: {
      conditions: [{ type: "RecommendationProvided", status: "True" }],
      recommendation: {
        containerRecommendations: [
          { containerName: "app", target: { cpu: "150m", memory: "88617123" } },
          { containerName: "log", target: { cpu: "150m", memory: "96Mi" } },
        ],
      },
    },
  });
});

pure("publishedVPA() has a name by kind, which is valid however long the workload's is", () => {
  const of = (name: string, uid = "0b9a2d6e-52f1-4a5e-8c63-2d9f7b1e4a10") =>
    publishedVPA({ ...deployment, metadata: { ...deployment.metadata, name, uid } }, []).metadata
      .name;
  const daemons = publishedVPA({ ...deployment, kind: "DaemonSet" }, []);
  assert.equal(daemons.metadata.name, "optipod-daemonset-web");
  for (const length of [1, 233, 234, 235, 253]) {
    const published = of("a.".repeat(200).slice(0, length - 1) + "a");
    assert.ok(published.length <= 253, published);
    assert.match(published, /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/);
  }
  const long = "a".repeat(250);
  assert.notEqual(of(`${long}b`), of(`${long}c`, "7c1f3e58-9d44-4f0b-b0f5-6a2e8c9d1b72"));
});
