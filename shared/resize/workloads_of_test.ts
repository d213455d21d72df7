import assert from "node:assert/strict";
import fc from "fast-check";
import { samplePod } from "../../tests/contract/support/sample_objects.ts";
import { ofDeployment, ownedBy, sampleWorkload } from "../../tests/fixtures/sample_workloads.ts";
import type { Pod } from "../api/pod.ts";
import { EVERY_WORKLOAD, type ReplicaSet, type WorkloadKind } from "../api/workload.ts";
import { belongsTo, controls, workloadsOf } from "./workloads_of.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function labelled(pod: Pod, label: string, value: string): Pod {
  const { metadata } = pod;
  return { ...pod, metadata: { ...metadata, labels: { ...metadata.labels, [label]: value } } };
}

const bare = samplePod("web-0");

test("workloadsOf() finds nothing above a bare pod", () => {
  assert.deepEqual(workloadsOf(bare), []);
});

test("workloadsOf() finds the Deployment above a ReplicaSet by the template's hash", () => {
  assert.deepEqual(workloadsOf(ofDeployment(bare)), [
    { kind: "ReplicaSet", name: "web-5d9c7f6b8" },
    { kind: "Deployment", name: "web" },
  ]);
});

test("workloadsOf() takes the hash for the end of the name only", () => {
  const pod = ownedBy("ReplicaSet", bare, "web-abc-abc");
  assert.deepEqual(workloadsOf(labelled(pod, "pod-template-hash", "abc"))[1], {
    kind: "Deployment",
    name: "web-abc",
  });
});

test("workloadsOf() finds no Deployment above a ReplicaSet that was made by hand", () => {
  const own = [{ kind: "ReplicaSet", name: "web-1" }];
  const pod = ownedBy("ReplicaSet", bare, "web-1");
  assert.deepEqual(workloadsOf(pod), own);
  for (const hash of ["", "2", "web-1", "eb-1"]) {
    assert.deepEqual(workloadsOf(labelled(pod, "pod-template-hash", hash)), own, hash);
  }
});

test("workloadsOf() finds the Rollout above a ReplicaSet of Argo's", () => {
  const pod = labelled(
    ownedBy("ReplicaSet", bare, "web-7c9"),
    "rollouts-pod-template-hash",
    "7c9",
  );
  assert.deepEqual(workloadsOf(pod)[1], { kind: "Rollout", name: "web" });
});

test("workloadsOf() finds the CronJob above a Job that is named by its minute", () => {
  assert.deepEqual(workloadsOf(ownedBy("Job", bare, "report-29384720")), [
    { kind: "Job", name: "report-29384720" },
    { kind: "CronJob", name: "report" },
  ]);
  assert.deepEqual(workloadsOf(ownedBy("Job", bare, "a-1-29384720"))[1]?.name, "a-1");
});

test("workloadsOf() finds no CronJob above a Job of another name", () => {
  for (const name of ["report", "report-1", "29384720", "-29384720", "report-29384720-x"]) {
    assert.deepEqual(workloadsOf(ownedBy("Job", bare, name)), [{ kind: "Job", name }]);
  }
});

test("workloadsOf() finds a pod's own controller of whatever kind", () => {
  for (const kind of ["StatefulSet", "DaemonSet", "GameServer"]) {
    assert.deepEqual(workloadsOf(ownedBy(kind, bare)), [{ kind, name: "web" }]);
  }
});

test("belongsTo() asks for kind and name", () => {
  const pod = ofDeployment(bare);
  assert.ok(belongsTo(pod, { kind: "Deployment", name: "web" }));
  assert.ok(belongsTo(pod, { kind: "ReplicaSet", name: "web-5d9c7f6b8" }));
  assert.ok(!belongsTo(pod, { kind: "StatefulSet", name: "web" }));
  assert.ok(!belongsTo(pod, { kind: "Deployment", name: "we" }));
  assert.ok(!belongsTo(bare, { kind: "Deployment", name: "web" }));
});

test("belongsTo() takes any pod for one of every workload, and of no half of that", () => {
  for (const pod of [bare, ofDeployment(bare)]) {
    assert.ok(belongsTo(pod, EVERY_WORKLOAD));
    assert.ok(!belongsTo(pod, { ...EVERY_WORKLOAD, kind: "Deployment" }));
    assert.ok(!belongsTo(pod, { ...EVERY_WORKLOAD, name: "api" }));
  }
});

test("workloadsOf() finds the Deployment of every ReplicaSet that Kubernetes has named", () => {
  const name = fc.stringMatching(/^[a-z]([a-z0-9-]{0,40}[a-z0-9])?$/);
  const hash = fc.stringMatching(/^[bcdfghjklmnpqrstvwxz2456789]{1,10}$/);
  fc.assert(fc.property(name, hash, (deployment, templateHash) => {
    const pod = ownedBy("ReplicaSet", bare, `${deployment}-${templateHash}`);
    assert.ok(
      belongsTo(labelled(pod, "pod-template-hash", templateHash), {
        kind: "Deployment",
        name: deployment,
      }),
    );
  }));
});

test("controls() goes by UIDs: of the pod's owner, and of the Deployment above its ReplicaSet", () => {
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
