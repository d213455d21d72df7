/** Pods with the name of a workload and owners outside of it. */
import assert from "node:assert/strict";
import { MI } from "../fixtures/rightsizing/rightsizing_facts.ts";
import { NAMESPACE } from "../fixtures/rightsizing/rightsizing_scene.ts";
import { sceneTest as test } from "../fixtures/lab/scene_test_case.ts";

test("runRightsizingLoop() leaves pods alone with a ReplicaSet that another Deployment, or none, controls", async (scene) => {
  scene.deployment("web");
  scene.uses("web", { cpu: 150, memory: 80 * MI });
  const { Pod, ReplicaSet, Deployment } = scene.api.store.tables;
  const uid = Deployment.get(`${NAMESPACE}/web`)?.metadata.uid ?? assert.fail();
  const first = scene.podsOf("web")[0] ?? assert.fail();
  const owner = first.metadata.owner ?? assert.fail();
  const metadata = { namespace: NAMESPACE, name: owner.name, uid: owner.uid, resourceVersion: "" };
  ReplicaSet.seed({ metadata, deployment: { name: "web", uid } });
  // Left over from a former Deployment of the name, and made by hand under a fitting name.
  for (
    const [name, deployment] of [["web-former", { name: "web", uid: "former" }], [
      "web-hand",
    ]] as const
  ) {
    const hash = name.replace("web-", "");
    ReplicaSet.seed({
      metadata: { ...metadata, name, uid: `uid-${name}` },
      ...(deployment === undefined ? {} : { deployment }),
    });
    Pod.seed({
      ...first,
      metadata: {
        ...first.metadata,
        name: `${name}-0`,
        uid: `uid-${name}-0`,
        labels: { ...first.metadata.labels, "pod-template-hash": hash },
        owner: { ...owner, name, uid: `uid-${name}` },
      },
    });
  }
  scene.policy("all");
  await scene.run(60_000);
  const requests = scene.podsOf("web").map(({ metadata: { name }, containers: [app] }) =>
    `${name} ${app?.requests.cpu}`
  );
  assert.deepEqual(requests.toSorted(), [
    "web-0 180",
    "web-1 180",
    "web-former-0 100",
    "web-hand-0 100",
  ]);
  const [question] = scene.source.asked;
  assert.deepEqual(question?.pods, ["web-0", "web-1"]);
  assert.deepEqual(question.otherPods.toSorted(), ["web-former-0", "web-hand-0"]);
});
