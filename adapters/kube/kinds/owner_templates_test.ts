import assert from "node:assert/strict";
import type { PodOwner } from "../../../shared/api/pod.ts";
import { samplePod } from "../../../tests/contract/support/sample_objects.ts";
import { serveCanned, statusAnswer } from "../../../tests/fixtures/canned_server.ts";
import { createOwnerTemplates } from "./owner_templates.ts";

const TEMPLATE = {
  spec: {
    containers: [{ name: "app", resources: { limits: { cpu: "300m" } } }, { name: "free" }],
    initContainers: [
      { name: "setup", resources: { limits: { cpu: "2" } } },
      { name: "proxy", restartPolicy: "Always", resources: { limits: { cpu: "50m" } } },
    ],
  },
};

function owned(owner: Omit<PodOwner, "uid"> | undefined, hash?: string) {
  const pod = samplePod("web");
  const labels: Record<string, string> = hash === undefined
    ? {}
    : { "controller-revision-hash": hash };
  const metadata = owner === undefined ? {} : { owner: { ...owner, uid: "u" } };
  return { ...pod, metadata: { ...pod.metadata, labels, ...metadata } };
}

Deno.test("limitsOf() reads the template, or the revision, that the pod was made from", async () => {
  await using server = serveCanned(({ path }) =>
    path.includes("controllerrevisions")
      ? { data: { spec: { template: TEMPLATE } } }
      : { spec: { template: TEMPLATE } }
  );
  const { limitsOf } = createOwnerTemplates(server.connection);
  const limits = new Map([["app", 300], ["proxy", 50]]);
  const apps = { apiVersion: "apps/v1", name: "web" };
  assert.deepEqual(await limitsOf(owned({ ...apps, kind: "ReplicaSet" })), limits);
  assert.deepEqual(await limitsOf(owned({ ...apps, kind: "StatefulSet" }, "web-77")), limits);
  assert.deepEqual(await limitsOf(owned({ ...apps, kind: "DaemonSet" }, "77")), limits);
  const job = { apiVersion: "batch/v1", kind: "Job", name: "web" };
  assert.deepEqual(await limitsOf(owned(job)), limits);
  assert.deepEqual(server.requests.map(({ path }) => path), [
    "/apis/apps/v1/namespaces/shop/replicasets/web",
    "/apis/apps/v1/namespaces/shop/controllerrevisions/web-77",
    "/apis/apps/v1/namespaces/shop/controllerrevisions/web-77",
    "/apis/batch/v1/namespaces/shop/jobs/web",
  ]);
  assert.equal(await limitsOf(owned({ ...apps, kind: "StatefulSet" })), undefined);
  assert.equal(await limitsOf(owned({ ...apps, apiVersion: "x/v1", kind: "Thing" })), undefined);
  assert.equal(await limitsOf(owned(undefined)), undefined);
});

Deno.test("limitsOf() returns undefined for a forbidden template, and throws when the server fails", async () => {
  let answer: unknown = statusAnswer(403);
  await using server = serveCanned(() => answer);
  const { limitsOf } = createOwnerTemplates(server.connection);
  const pod = owned({ apiVersion: "apps/v1", kind: "ReplicaSet", name: "web" });
  assert.equal(await limitsOf(pod), undefined);
  answer = {};
  assert.equal(await limitsOf(pod), undefined);
  answer = statusAnswer(503);
  await assert.rejects(limitsOf(pod), { status: 503 });
});
