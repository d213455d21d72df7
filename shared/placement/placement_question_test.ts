import assert from "node:assert/strict";
import type { AdmissionRequest } from "../admission/admission_review.ts";
import {
  parsePlacementQuestion,
  parsePlacementVerdict,
  placementQuestion,
} from "./placement_question.ts";

const OWNER = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-1", uid: "rs" };

function request(
  metadata: Record<string, unknown>,
  changes: Partial<AdmissionRequest> = {},
): AdmissionRequest {
  return {
    uid: "q",
    kind: "Pod",
    resource: "pods",
    operation: "CREATE",
    namespace: "shop",
    name: "",
    dryRun: false,
    object: { metadata, spec: { containers: [{ env: [{ value: "secret" }] }] } },
    ...changes,
  };
}

const METADATA = {
  generateName: "web-1-",
  labels: { "pod-template-hash": "1" },
  ownerReferences: [{ ...OWNER, uid: "other" }, { ...OWNER, controller: true }],
};

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

test("placementQuestion() says whose the pod is and how it will be known, and nothing else", () => {
  const question = placementQuestion(request(METADATA));
  assert.deepEqual(question, {
    id: "q",
    namespace: "shop",
    owner: OWNER,
    revision: "1",
    pod: { generateName: "web-1-" },
    dryRun: false,
  });
  assert.deepEqual(parsePlacementQuestion(JSON.stringify(question)), question);
});

test("placementQuestion() repeats what the pod was told", () => {
  const told = {
    ...METADATA,
    labels: { "pod-template-hash": "1", "spotalis.io/capacity": "spot" },
    annotations: { "controller.kubernetes.io/pod-deletion-cost": "-3" },
  };
  assert.deepEqual(placementQuestion(request(told))?.told, { class: "spot", deletionCost: -3 });
  const odd = { ...told, annotations: { "controller.kubernetes.io/pod-deletion-cost": "many" } };
  assert.deepEqual(placementQuestion(request(odd))?.told, { class: "spot" });
});

test("placementQuestion() names the claims of the pod, and of too many only that it is bound", () => {
  const asked = (count: number) => {
    const volumes = Array.from({ length: count }, (_, index) => ({
      name: `v${index}`,
      persistentVolumeClaim: { claimName: `data-${index}` },
    }));
    const object = {
      metadata: METADATA,
      spec: { volumes: [{ name: "c", emptyDir: {} }, ...volumes] },
    };
    const question = placementQuestion(request({}, { object }));
    assert.deepEqual(parsePlacementQuestion(JSON.stringify(question)), question);
    const bounded = { ...question, only: "spot" };
    assert.deepEqual(parsePlacementQuestion(JSON.stringify(bounded)), bounded);
    return [question?.claims?.length, question?.bound];
  };
  assert.deepEqual(asked(0), [undefined, undefined]);
  assert.deepEqual(asked(64), [64, undefined]);
  assert.deepEqual(asked(65), [undefined, true]);
});

test("placementQuestion() asks nothing about pods without a controller, or what is no new pod", () => {
  assert.equal(placementQuestion(request({ ownerReferences: [OWNER] })), undefined);
  assert.equal(placementQuestion(request({})), undefined);
  assert.equal(placementQuestion(request(METADATA, { operation: "UPDATE" })), undefined);
  assert.equal(placementQuestion(request(METADATA, { resource: "pods/binding" })), undefined);
});

test("parsePlacementVerdict() reads verdicts, and refuses all else without repeating it", () => {
  for (const verdict of [{ class: "spot", deletionCost: -2 }, { unplaced: "NoLeader" }]) {
    assert.deepEqual(parsePlacementVerdict(JSON.stringify(verdict)), verdict);
  }
  for (const body of ["", "{}", '{"class":"secret"}', '{"unplaced":"secret"}']) {
    assert.throws(() => parsePlacementVerdict(body), (error: Error) => {
      assert.ok(error instanceof SyntaxError || error instanceof TypeError);
      assert.ok(!error.message.includes("secret"));
      return true;
    });
  }
});
