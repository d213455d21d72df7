import fc from "fast-check";
import assert from "node:assert/strict";
import { forAll } from "../../tests/fixtures/for_all.ts";
import { sampleContainer, samplePod } from "../../tests/contract/support/sample_objects.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { ofDeployment, ownedBy, sampleWorkload } from "../../tests/fixtures/sample_workloads.ts";
import { ApiError } from "../api/api_error.ts";
import type { Texts } from "../api/object.ts";
import type { Pod, PodContainer } from "../api/pod.ts";
import type { Original } from "../api/pod_allocation.ts";
import type { EnforcementReason } from "../api/reasons/enforcement_reasons.ts";
import { EVERY_WORKLOAD, type ReplicaSet, type WorkloadKind } from "../api/workload.ts";
import {
  desiredLimits,
  limitsAreOurs,
  marketManager,
  originalLimitsOf,
  originalsIn,
  type OtherSources,
} from "./original_limits.ts";
import { resizePatch } from "./patch.ts";
import { refusalKind, refusalReason } from "./refusal.ts";
import { belongsTo, controls, workloadsOf } from "./workloads_of.ts";

function pod(...limitManagers: readonly string[]): Pod {
  return samplePod("web", {
    containers: [sampleContainer({ limits: { cpu: 600 }, limitManagers })],
  });
}

function named(count: number): PodContainer[] {
  return Array.from({ length: count }, (_, index) => sampleContainer({ name: `c${index}` }));
}

const RECORD: readonly Original[] = [{ name: "app", cpu: "200m" }];
const TEMPLATE = new Map([["app", 300]]);

function original(of: Pod, sources: OtherSources = {}): string | undefined {
  return originalLimitsOf(of, sources)?.[0]?.cpu;
}

pure(
  "marketManager() lists original limits in the containers' order, as API servers take it",
  () => {
    const { containers } = samplePod("web", { containers: named(3) });
    const originals = new Map([["c0", 200], ["c2", 2000]]);
    assert.equal(marketManager({ containers }, originals), "mbcas/200m,,2");
    const of = (count: number): string => {
      const containers = named(count);
      return marketManager({ containers }, new Map(containers.map(({ name }) => [name, 12_345])));
    };
    // 6 characters of prefix, 6 of each value, 15 commas.
    assert.deepEqual([of(17).length, of(18)], [124, "mbcas"]);
  },
);

const limit = fc.option(fc.nat(100_000), { nil: undefined });

forAll("originalsIn() reads back what marketManager() wrote", [
  fc.array(limit, { minLength: 1, maxLength: 15 }),
], (limits) => {
  const containers = named(limits.length);
  const originals = new Map(
    limits.flatMap((one, index): [string, number][] =>
      one === undefined ? [] : [[`c${index}`, one]]
    ),
  );
  const manager = marketManager({ containers }, originals);
  const raised = containers.map((one) => ({ ...one, limitManagers: [manager] }));
  assert.deepEqual(originalsIn({ containers: raised }), originals);
}, 1);

pure("originalsIn() has the present limit under another manager", () => {
  const app = (...managers: readonly string[]) => originalsIn(pod(...managers)).get("app");
  assert.equal(app("kubectl"), 600);
  assert.equal(app("mbcas-restore"), 600);
  // Another client has applied the same value, and manages it now.
  assert.equal(app("argocd", "mbcas/200m"), 600);
  assert.equal(app("mbcas/200m"), 200);
  for (const none of [[], ["mbcas"], ["mbcas/"], ["mbcas/-1"], ["mbcas/x"], ["mbcas/,200m"]]) {
    assert.equal(app(...none), undefined, none.join());
  }
});

pure("limitsAreOurs() goes by the field managers alone", () => {
  assert.equal(limitsAreOurs(samplePod("web")), false);
  for (const managers of [[], ["kubectl"], ["mbcas-restore"], ["argocd", "mbcas/200m"]]) {
    assert.equal(limitsAreOurs(pod(...managers)), false, managers.join());
  }
  assert.equal(limitsAreOurs(pod("mbcas")), true);
  assert.equal(limitsAreOurs(pod("mbcas/200m")), true);
});

pure("desiredLimits() takes more than can be counted for the largest number", () => {
  const containers = [{ name: "app", cpuLimit: "300m" }, { name: "b", cpuLimit: "9".repeat(20) }];
  const limits = desiredLimits({ containers });
  assert.deepEqual([...limits], [["app", 300], ["b", Number.MAX_SAFE_INTEGER]]);
});

pure("originalLimitsOf() asks the pod, then the record, then the template", () => {
  const all = { recorded: RECORD, template: TEMPLATE };
  assert.equal(original(pod("mbcas/500m"), all), "500m");
  assert.equal(original(pod("kubectl"), all), "600m");
  assert.equal(original(pod("mbcas-restore"), all), "600m");
  assert.equal(original(pod("mbcas"), all), "200m");
  assert.equal(original(pod("mbcas"), { template: TEMPLATE }), "300m");
  assert.equal(originalLimitsOf(pod("mbcas"), { template: new Map() }), undefined);
  // The pod has no manager on record, or none any more.
  assert.equal(original(pod(), all), "200m");
  assert.equal(original(pod("ancient-changes"), all), "200m");
  assert.equal(original(pod(), { template: TEMPLATE }), "600m");
});

pure("originalLimitsOf() keeps rightsizing's value as long as the pod has the one before", () => {
  const recorded = [{ name: "app", cpu: "250m", replaces: "200m" }];
  assert.deepEqual(originalLimitsOf(pod("mbcas/200m"), { recorded }), recorded);
  assert.equal(original(pod("mbcas/250m"), { recorded }), "250m");
  assert.equal(original(pod("kubectl"), { recorded }), "600m");
});

pure("originalLimitsOf() goes container by container", () => {
  const { containers } = samplePod("web", {
    containers: [
      sampleContainer({ limits: { cpu: 700 }, limitManagers: ["mbcas"] }),
      sampleContainer({ name: "proxy", limits: { cpu: 50 }, limitManagers: ["kubectl-patch"] }),
      sampleContainer({ name: "log", limits: { cpu: 90 }, limitManagers: ["mbcas/1,1,80m"] }),
    ],
  });
  const others = [{ name: "proxy", cpu: "50m" }, { name: "log", cpu: "80m" }];
  const unlimited = { containers: [{ ...sampleContainer(), limits: {} }] };
  assert.deepEqual(originalLimitsOf(unlimited, {}), [{ name: "app" }]);
  assert.deepEqual(originalLimitsOf({ containers }, { template: TEMPLATE }), [
    { name: "app", cpu: "300m" },
    ...others,
  ]);
  assert.equal(originalLimitsOf({ containers }, { template: new Map([["proxy", 80]]) }), undefined);
});

const app = { name: "app", sidecar: false, requests: {}, limits: { cpu: 300 } };

pure("resizePatch() names the pod's version where one is given, and what changes alone", () => {
  const proxy = { ...app, name: "proxy", sidecar: true, limits: { cpu: 2000 } };
  const limits = (cpu: string) => ({ resources: { limits: { cpu } } });
  assert.deepEqual(resizePatch("u1", [app, proxy], { resourceVersion: "7" }), {
    metadata: { uid: "u1", resourceVersion: "7" },
    spec: {
      containers: [{ name: "app", ...limits("300m") }],
      initContainers: [{ name: "proxy", ...limits("2") }],
    },
  });
  assert.deepEqual(resizePatch("u1", [app]).metadata, { uid: "u1" });
  assert.deepEqual(Object.keys(resizePatch("u1", [app]).spec), ["containers"]);
  assert.throws(() => resizePatch("u1", []), /no container changes/);
  const requests = { cpu: 90, memory: 88_617_123 };
  const change = { ...app, requests, limits: { memory: 2 ** 27 } };
  assert.deepEqual(resizePatch("u1", [change]).spec.containers?.[0]?.resources, {
    ...{ requests: { cpu: "90m", memory: "88617123" }, limits: { memory: "128Mi" } },
  });
});

pure("refusalKind() distinguishes a missing pod, a conflict, API back-off and a refusal", () => {
  const uid = 'metadata.uid: Invalid value: "u1": field is immutable';
  const denied = 'admission webhook "policy.example.com" denied the request: no';
  const cases = [
    ...[[404, "", "gone"], [422, uid, "gone"]],
    ...[[422, "spec.nodeName: field is immutable", "refused"], [403, "exceeded quota", "refused"]],
    ...[[400, "", "refused"], [409, "", "conflict"], [429, "", "busy"], [500, "", "busy"]],
    ...[[503, "", "busy"], [0, "", "busy"], [500, denied, "refused"], [409, denied, "refused"]],
    [500, 'failed calling webhook "policy.example.com": no endpoints', "refused"],
  ] as const;
  for (const [status, message, kind] of cases) {
    assert.equal(refusalKind(new ApiError(status, "", message)), kind, `${status} ${message}`);
  }
});

const FORBIDDEN = 'pods "web" is forbidden: ';
const INVALID = 'Pod "web" is invalid: ';

pure("refusalReason() reads a refusal's cause, or its message", () => {
  // Recorded from a kube-apiserver 1.36.3, but for the webhook's.
  const forbidden: readonly (readonly [EnforcementReason, message: string])[] = [
    [
      "QuotaExceeded",
      `${FORBIDDEN}exceeded quota: cpu, requested: limits.cpu=700m, used: limits.cpu=280m, ` +
      "limited: limits.cpu=400m",
    ],
    [
      "LimitRange",
      `${FORBIDDEN}[cpu max limit to request ratio per Container is 8, but provided ratio is ` +
      "9.000000, maximum cpu usage per Pod is 520m, but limit is 530m]",
    ],
    [
      "LimitRange",
      `${FORBIDDEN}[minimum cpu usage per Container is 100m, but request is 50m, minimum cpu usage ` +
      "per Container is 100m, but request is 10m]",
    ],
    [
      "NodeCapacity",
      `${FORBIDDEN}node didn't have enough allocatable resources: cpu, requested: 9010, ` +
      "allocatable: 2000",
    ],
    [
      "AdmissionDenied",
      `${FORBIDDEN}ValidatingAdmissionPolicy 'undo-no-resize' with binding 'undo-no-resize' denied ` +
      "request: no resizes here",
    ],
    ["AdmissionDenied", 'admission webhook "policy.example.com" denied the request: no'],
    ["Refused", `${FORBIDDEN}User "x" cannot patch resource "pods/resize" in API group ""`],
  ];
  for (const [reason, message] of forbidden) {
    assert.equal(refusalReason(new ApiError(403, "Forbidden", message)), reason, message);
  }
  const byCause = (cause: string) =>
    refusalReason(new ApiError(403, "Forbidden", "no", { causes: ["FieldValueForbidden", cause] }));
  const found = ["NodeCapacity", "UnsupportedPlatform"].map(byCause);
  assert.deepEqual(found, ["NodeCapacity", "WindowsPod"]);
});

pure("refusalReason() knows what servers of 1.33 to 1.36 say of pods that can't be resized", () => {
  const messages: Readonly<Record<string, EnforcementReason>> = {
    // 1.33 and 1.34; then 1.35 and 1.36 without their feature gate.
    ": Forbidden: pods with pod-level resources cannot be resized": "PodLevelResources",
    [
      ": Forbidden: resize of pods with pod-level resources is forbidden when " +
      "InPlacePodLevelResourcesVerticalScalingEnabled feature gate is disabled"
    ]: "PodLevelResources",
    ": Forbidden: static pods cannot be resized": "StaticPod",
    ": Forbidden: windows pods cannot be resized": "WindowsPod",
    "spec: Forbidden: pods with node allocatable resource claims cannot be resized": "DeviceClaims",
    "spec: Forbidden: Pod running on node without support for resize": "KubeletTooOld",
    'spec: Invalid value: "": Pod QOS Class may not change as a result of resizing':
      "QoSWouldChange",
    "spec.containers[0].resources.limits: Forbidden: resource limits cannot be removed": "Refused",
  };
  for (const [message, reason] of Object.entries(messages)) {
    const error = new ApiError(422, "Invalid", INVALID + message);
    assert.deepEqual([refusalReason(error), refusalKind(error)], [reason, "refused"], message);
  }
});

const bare = samplePod("web-0");

function made(kind: string, name: string, labels: Texts = {}): Pod {
  const pod = ownedBy(kind, bare, name);
  return { ...pod, metadata: { ...pod.metadata, labels: { ...pod.metadata.labels, ...labels } } };
}

const hashed = (name: string, hash: string, prefix = ""): Pod =>
  made("ReplicaSet", name, { [`${prefix}pod-template-hash`]: hash });

pure("workloadsOf() finds a pod's own controller, and what that belongs to by its name", () => {
  const rows: readonly (readonly [Pod, workloads: string])[] = [
    [bare, ""],
    [ofDeployment(bare), "ReplicaSet web-5d9c7f6b8, Deployment web"],
    // The hash ends the name, and no more of it.
    [hashed("web-abc-abc", "abc"), "ReplicaSet web-abc-abc, Deployment web-abc"],
    [made("ReplicaSet", "web-1"), "ReplicaSet web-1"],
    ...["", "2", "web-1", "eb-1"].map((hash) =>
      [hashed("web-1", hash), "ReplicaSet web-1"] as const
    ),
    [hashed("web-7c9", "7c9", "rollouts-"), "ReplicaSet web-7c9, Rollout web"],
    [made("Job", "report-29384720"), "Job report-29384720, CronJob report"],
    [made("Job", "a-1-29384720"), "Job a-1-29384720, CronJob a-1"],
    ...["report", "report-1", "29384720", "-29384720", "report-29384720-x"].map((name) =>
      [made("Job", name), `Job ${name}`] as const
    ),
    ...["StatefulSet", "DaemonSet", "GameServer"].map((kind) =>
      [made(kind, "web"), `${kind} web`] as const
    ),
  ];
  for (const [pod, expected] of rows) {
    const found = workloadsOf(pod).map(({ kind, name }) => `${kind} ${name}`);
    assert.equal(found.join(", "), expected);
  }
});

pure("belongsTo() asks for kind and name; any pod belongs to every workload", () => {
  const pod = ofDeployment(bare);
  const of = (kind: string, name: string, one = pod) => belongsTo(one, { kind, name });
  assert.deepEqual([of("Deployment", "web"), of("ReplicaSet", "web-5d9c7f6b8")], [true, true]);
  assert.deepEqual([of("StatefulSet", "web"), of("Deployment", "we")], [false, false]);
  assert.equal(of("Deployment", "web", bare), false);
  for (const one of [bare, pod]) {
    assert.ok(belongsTo(one, EVERY_WORKLOAD));
    assert.ok(!belongsTo(one, { ...EVERY_WORKLOAD, kind: "Deployment" }));
    assert.ok(!belongsTo(one, { ...EVERY_WORKLOAD, name: "api" }));
  }
});

pure("controls() goes by UIDs of the owner and of the Deployment above", () => {
  const pod = ofDeployment(bare);
  const { namespace, owner } = pod.metadata;
  const metadata = { name: owner?.name ?? "", namespace, uid: "rs", resourceVersion: "1" };
  const workloadOf = (kind: WorkloadKind, uid: string) => {
    const { metadata: known } = sampleWorkload();
    return { kind, metadata: { ...known, namespace, uid } };
  };
  const of = (uid: string, replicaSet?: Partial<ReplicaSet>): boolean =>
    controls(workloadOf("Deployment", uid), pod, {
      replicaSet: () => replicaSet && { metadata, ...replicaSet },
    });
  assert.equal(of("uid-web", { deployment: { name: "web", uid: "uid-web" } }), true);
  // A former Deployment of that name owns the ReplicaSet, or none does any more.
  assert.equal(of("uid-web", { deployment: { name: "web", uid: "uid-former" } }), false);
  assert.equal(of("uid-web", {}), false);
  // The copy has none yet, or another one of the name.
  assert.equal(of("uid-web"), true);
  assert.equal(of("uid-web", { metadata: { ...metadata, uid: "former" } }), true);
  const own = ownedBy("StatefulSet", pod);
  const nothing = { replicaSet: () => undefined };
  assert.equal(controls(workloadOf("StatefulSet", "owner"), own, nothing), true);
  assert.equal(controls(workloadOf("StatefulSet", "uid-former"), own, nothing), false);
  const elsewhere = { ...own, metadata: { ...own.metadata, namespace: "other" } };
  assert.equal(controls(workloadOf("StatefulSet", "owner"), elsewhere, nothing), false);
});
