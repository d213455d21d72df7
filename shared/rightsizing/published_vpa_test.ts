import assert from "node:assert/strict";
import { pure } from "../../tests/fixtures/pure.ts";
import {
  recommendation,
  rightsizingFacts,
} from "../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import { publishedVPA } from "./published_vpa.ts";

const { workload } = rightsizingFacts();

pure("publishedVPA() is in mode Off, owned by its workload, in plain quantities", () => {
  const all = [recommendation({ memory: 88_617_123 }), recommendation({ container: "log" })];
  const web = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };
  assert.deepEqual(publishedVPA(workload, all), {
    apiVersion: "autoscaling.k8s.io/v1",
    kind: "VerticalPodAutoscaler",
    metadata: {
      name: "optipod-deployment-web",
      namespace: "shop",
      labels: { "app.kubernetes.io/managed-by": "mbcas-controller" },
      ownerReferences: [{ ...web, uid: "uid-web" }],
    },
    spec: {
      targetRef: web,
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

pure("publishedVPA() has a name by kind, which is valid however long the workload's is", () => {
  const of = (name: string, uid = "0b9a2d6e-52f1-4a5e-8c63-2d9f7b1e4a10") =>
    publishedVPA({ ...workload, metadata: { ...workload.metadata, name, uid } }, []).metadata.name;
  assert.equal(
    publishedVPA({ ...workload, kind: "DaemonSet" }, []).metadata.name,
    "optipod-daemonset-web",
  );
  for (const length of [1, 233, 234, 235, 253]) {
    const published = of("a.".repeat(200).slice(0, length - 1) + "a");
    assert.ok(published.length <= 253, published);
    assert.match(published, /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/);
  }
  const long = "a".repeat(250);
  assert.notEqual(of(`${long}b`), of(`${long}c`, "7c1f3e58-9d44-4f0b-b0f5-6a2e8c9d1b72"));
});
