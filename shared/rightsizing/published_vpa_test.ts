import assert from "node:assert/strict";
import {
  recommendation,
  rightsizingFacts,
} from "../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import { publishedVPA, publishedVPAName } from "./published_vpa.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const { workload } = rightsizingFacts();

test("publishedVPA() does nothing, goes with its workload, and tells requests in plain quantities", () => {
  const all = [recommendation({ memory: 88_617_123 }), recommendation({ container: "log" })];
  assert.deepEqual(publishedVPA(workload, all), {
    apiVersion: "autoscaling.k8s.io/v1",
    kind: "VerticalPodAutoscaler",
    metadata: {
      name: "optipod-deployment-web",
      namespace: "shop",
      labels: { "app.kubernetes.io/managed-by": "mbcas-controller" },
      ownerReferences: [
        { apiVersion: "apps/v1", kind: "Deployment", name: "web", uid: "uid-web" },
      ],
    },
    spec: {
      targetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
      updatePolicy: { updateMode: "Off" },
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

test("publishedVPAName() tells kinds apart, and is a valid name however long the workload's is", () => {
  const of = (name: string, uid = "0b9a2d6e-52f1-4a5e-8c63-2d9f7b1e4a10") =>
    publishedVPAName({ ...workload, metadata: { ...workload.metadata, name, uid } });
  assert.notEqual(publishedVPAName({ ...workload, kind: "DaemonSet" }), publishedVPAName(workload));
  for (const length of [1, 233, 234, 235, 253]) {
    const name = "a.".repeat(200).slice(0, length - 1) + "a";
    const published = of(name);
    assert.ok(published.length <= 253, published);
    assert.match(published, /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/);
  }
  const long = "a".repeat(250);
  assert.notEqual(of(`${long}b`), of(`${long}c`, "7c1f3e58-9d44-4f0b-b0f5-6a2e8c9d1b72"));
});
