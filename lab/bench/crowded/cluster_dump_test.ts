import assert from "node:assert/strict";
import { dumpCluster } from "./cluster_dump.ts";

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
