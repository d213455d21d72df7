/** Rightsizing and placement on one pod, by one review. */
import assert from "node:assert/strict";
import { admissionRoutes } from "../../adapters/webhook/admission_routes.ts";
import { applyJSONPatch } from "../../shared/admission/json_patch.ts";
import type { Mutator } from "../../shared/admission/mutator.ts";
import { silentLog } from "../../shared/log.ts";
import { NODE_CLASSES } from "../../shared/placement/node_class.ts";
import { createVirtualClock } from "../../simulation/virtual_clock.ts";
import { PLACEMENT_RULES, podRequest } from "../../tests/fixtures/placement_copies.ts";
import { postTo } from "../../tests/fixtures/post_to.ts";
import { createPodCreationMutator } from "../rightsizing/pod_creation.ts";
import { createPlacementMutator } from "./placement_mutator.ts";

Deno.test("rightsizing and placement change a pod one after the other, whoever is first", async () => {
  const clock = createVirtualClock({ wallStart: 0 });
  const placement = createPlacementMutator({
    counter: { decide: () => Promise.resolve({ class: "spot", deletionCost: -2 }) },
    facts: { allowed: () => NODE_CLASSES },
    rules: () => PLACEMENT_RULES,
    observer: { answered: () => {} },
    clock,
    log: silentLog,
  });
  const rightsizing = createPodCreationMutator(() => () => new Map([["app", { requestCPU: 180 }]]));
  const { uid, namespace, object } = podRequest("1", {
    spec: { containers: [{ name: "app", resources: { requests: { cpu: "100m" } } }] },
  });
  const kinds = { kind: { kind: "Pod" }, resource: { resource: "pods" } };
  const body = JSON.stringify({
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    request: { uid, namespace, object, operation: "CREATE", ...kinds },
  });
  const changed = async (mutators: readonly Mutator[]): Promise<unknown> => {
    const routes = { "/mutate": mutators };
    const app = admissionRoutes({
      routes,
      clock,
      log: silentLog,
      observer: { answered: () => {} },
    });
    const { text } = await postTo(app, { target: "/mutate", body });
    const { response } = JSON.parse(text);
    assert.equal(response.warnings, undefined);
    return applyJSONPatch(object, JSON.parse(atob(response.patch)));
  };
  const both = await changed([rightsizing, placement]);
  assert.deepEqual(await changed([placement, rightsizing]), both);
  assert.deepEqual(both, {
    metadata: {
      ...(object?.["metadata"] as object),
      labels: { "pod-template-hash": "5f", "spotalis.io/capacity": "spot" },
      annotations: { "controller.kubernetes.io/pod-deletion-cost": "-2" },
    },
    spec: {
      containers: [{ name: "app", resources: { requests: { cpu: "180m" } } }],
      nodeSelector: { "karpenter.sh/capacity-type": "spot" },
    },
  });
});
