import assert from "node:assert/strict";
import { MI } from "../../tests/fixtures/rightsizing_facts.ts";
import type { AdmissionRequest } from "../../shared/admission/admission_review.ts";
import { applyJSONPatch } from "../../shared/admission/json_patch.ts";
import { createCreationMutator } from "./creation_mutator.ts";

function test(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, permissions: "none", fn });
}

const VALUES = new Map([["app", { requestCPU: 180, requestMemory: 96 * MI }]]);
const valuesOf = (namespace: string, { kind, name }: { kind: string; name: string }) =>
  `${namespace}/${kind}/${name}` === "shop/Deployment/web" ? () => VALUES : undefined;
const mutator = createCreationMutator(valuesOf);
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

test("createCreationMutator() gives a new pod what is in force for its workload, and no more", async () => {
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

test("createCreationMutator() leaves all else alone", async () => {
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
