import assert from "node:assert/strict";
import { type ClusterDump, dumpCluster, dumpDifferences } from "./cluster_dump.ts";
import type { JSONObject } from "../../../adapters/kube/client/json_fields.ts";

const ITEM = { metadata: { name: "a", namespace: "n" } };
const LISTED = ["list", "get"];
const ANSWERS: Readonly<Record<string, unknown>> = {
  "/apis": {
    groups: [
      { name: "apps", preferredVersion: { groupVersion: "apps/v1" } },
      { name: "metrics.k8s.io", preferredVersion: { groupVersion: "metrics.k8s.io/v1beta1" } },
    ],
  },
  "/api/v1": {
    resources: [
      { name: "pods", verbs: LISTED },
      { name: "pods/resize", verbs: ["patch"] },
      { name: "events", verbs: LISTED },
      { name: "nodes", verbs: LISTED },
    ],
  },
  "/apis/apps/v1": { resources: [{ name: "deployments", verbs: LISTED }] },
  "/api/v1/pods": { items: [ITEM] },
  "/api/v1/nodes": { items: [{ metadata: { name: "node" } }] },
  "/apis/apps/v1/deployments": { items: [ITEM] },
};

Deno.test("dumpCluster() has what can be listed of each group, without events and metrics", async () => {
  const asked: string[] = [];
  const dump = await dumpCluster({
    request: ({ path }) => {
      asked.push(path);
      return Promise.resolve(ANSWERS[path] ?? assert.fail(path));
    },
    lines: () => assert.fail(),
  });
  assert.deepEqual([...dump.keys()], ["pods. n/a", "nodes. /node", "deployments.apps n/a"]);
  assert.equal(dump.get("pods. n/a"), ITEM);
});

const RULES = { namespaces: ["try"], scaled: { namespace: "try", name: "web" } };

function pod(limit: string, { metadata = {}, spec = {} }: JSONObject = {}): JSONObject {
  return {
    metadata: {
      name: "a",
      namespace: "try",
      uid: "1",
      resourceVersion: limit,
      ...metadata as object,
    },
    spec: {
      containers: [{
        name: "app",
        resources: { requests: { cpu: "50m" }, limits: { cpu: limit, memory: "1Gi" } },
      }],
      ...spec as object,
    },
    status: { phase: limit },
  };
}

function differences(was: JSONObject | undefined, is: JSONObject | undefined): string[] {
  const dump = (object: JSONObject | undefined): ClusterDump =>
    new Map(object === undefined ? [] : [["pods. try/a", object]]);
  return dumpDifferences({ before: dump(was), after: dump(is) }, RULES);
}

Deno.test("dumpDifferences() lets a managed pod's CPU limit, version and status change, and no more", () => {
  assert.deepEqual(differences(pod("100m"), pod("300m")), []);
  assert.deepEqual(differences(pod("100m"), pod("300m", { spec: { priority: 7 } })), [
    "pods. try/a spec.priority: absent → 7",
  ]);
  const relabelled = pod("100m", { metadata: { labels: { touched: "yes" } } });
  assert.deepEqual(differences(pod("100m"), relabelled), [
    'pods. try/a metadata.labels: absent → {"touched":"yes"}',
  ]);
  const other = pod("100m", { metadata: { uid: "2" } });
  assert.deepEqual(differences(pod("100m"), other), ['pods. try/a metadata.uid: "1" → "2"']);
});

Deno.test("dumpDifferences() holds an opted-out pod, and one of another namespace, to its limit", () => {
  for (const metadata of [{ annotations: { "mbcas.io/managed": "false" } }, { namespace: "b" }]) {
    assert.deepEqual(differences(pod("100m", { metadata }), pod("300m", { metadata })), [
      'pods. try/a spec.containers.0.resources.limits.cpu: "100m" → "300m"',
    ]);
  }
});

Deno.test("dumpDifferences() finds that a manager of ours has come to an object that is not managed", () => {
  const metadata = { namespace: "b" };
  const written = { ...metadata, managedFields: [{ manager: "mbcas", time: "now" }] };
  assert.deepEqual(differences(pod("1", { metadata }), pod("1", { metadata: written })), [
    'pods. try/a metadata.managers.0: absent → "mbcas"',
  ]);
  const kubelet = { ...metadata, managedFields: [{ manager: "kubelet", time: "now" }] };
  assert.deepEqual(differences(pod("1", { metadata }), pod("1", { metadata: kubelet })), []);
});

Deno.test("dumpDifferences() lets replicas of the scaled service come and go, and no other object", () => {
  const replica = { ownerReferences: [{ kind: "ReplicaSet", name: "web-5d4", controller: true }] };
  assert.deepEqual(differences(pod("1"), undefined), ["pods. try/a is gone"]);
  assert.deepEqual(differences(undefined, pod("1")), ["pods. try/a is new"]);
  assert.deepEqual(differences(pod("1", { metadata: replica }), undefined), []);
  assert.deepEqual(differences(undefined, pod("1", { metadata: replica })), []);
});

Deno.test("dumpDifferences() leaves the scaled Deployment's replicas out, and not its template", () => {
  const deployment = (name: string, replicas: number, image = "one"): JSONObject => ({
    metadata: { name, namespace: "try", annotations: { "deployment.kubernetes.io/x": replicas } },
    spec: { replicas, template: { image } },
  });
  assert.deepEqual(differences(deployment("web", 1), deployment("web", 4)), []);
  assert.deepEqual(differences(deployment("web", 1), deployment("web", 1, "two")), [
    'pods. try/a spec.template.image: "one" → "two"',
  ]);
  assert.equal(differences(deployment("cart", 1), deployment("cart", 4)).length, 2);
});

Deno.test("dumpDifferences() does not show the data of a Secret", () => {
  const secret = (token: string): ClusterDump =>
    new Map([["secrets. try/s", { metadata: { name: "s" }, data: { token } }]]);
  const found = dumpDifferences({ before: secret("old"), after: secret("new") }, RULES);
  assert.deepEqual(found, ["secrets. try/s data.token"]);
});
