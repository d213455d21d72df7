import assert from "node:assert/strict";
import {
  NOW_MS,
  rightsizingFacts,
  templateContainer,
  workloadPod,
} from "../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import { usageQuestion } from "./ports.ts";

Deno.test({
  name: "usageQuestion() asks for all containers but sidecars, and separates own pods from others",
  permissions: "none",
  fn() {
    const containers = [templateContainer(), templateContainer({ name: "proxy", sidecar: true })];
    const { workload, pods } = rightsizingFacts({ containers });
    const { owner: _owner, ...metadata } = workloadPod("lonely", containers).metadata;
    const other = { ...workloadPod("lonely", containers), metadata };
    const question = usageQuestion(workload, {
      neighbours: [...pods, other],
      isOwn: (pod) => pods.includes(pod),
      nowMs: NOW_MS,
      windowMs: 1000,
    });
    assert.deepEqual(question, {
      namespace: "shop",
      workload: { kind: "Deployment", name: "web", uid: "uid-web" },
      pods: ["web-1", "web-2"],
      otherPods: ["lonely"],
      containers: ["app"],
      window: { fromMs: NOW_MS - 1000, toMs: NOW_MS },
    });
  },
});
