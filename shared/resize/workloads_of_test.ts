import assert from "node:assert/strict";
import fc from "fast-check";
import { samplePod } from "../../tests/contract/support/sample_objects.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { ofDeployment, ownedBy, sampleWorkload } from "../../tests/fixtures/sample_workloads.ts";
import type { Texts } from "../api/object.ts";
import type { Pod } from "../api/pod.ts";
import { EVERY_WORKLOAD, type ReplicaSet, type WorkloadKind } from "../api/workload.ts";
import { belongsTo, controls, workloadsOf } from "./workloads_of.ts";

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

pure("workloadsOf() finds the Deployment of every ReplicaSet that Kubernetes has named", () => {
  const name = fc.stringMatching(/^[a-z]([a-z0-9-]{0,40}[a-z0-9])?$/);
  const hash = fc.stringMatching(/^[bcdfghjklmnpqrstvwxz2456789]{1,10}$/);
  fc.assert(fc.property(name, hash, (deployment, templateHash) => {
    const pod = hashed(`${deployment}-${templateHash}`, templateHash);
    assert.ok(belongsTo(pod, { kind: "Deployment", name: deployment }));
  }));
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
