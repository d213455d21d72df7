/**
 * The numbered property of what the webhook gives new pods of a workload that was resized in place: a real
 * API server makes of it what it has made of the others.
 *
 * @module
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { applyDecision } from "../../controller/rightsizing/apply_decision.ts";
import type { Pod } from "../../shared/api/pod.ts";
import { podCreationPatch } from "../../shared/rightsizing/pod_creation_patch.ts";
import { createdPod } from "../fixtures/rightsizing/rightsizing_patches.ts";
import { decideRightsizing } from "../../shared/rightsizing/guards/decide_rightsizing.ts";
import type { RightsizingFacts } from "../../shared/rightsizing/guards/rightsizing_facts.ts";
import { workloadPod } from "../fixtures/rightsizing/rightsizing_facts.ts";
import { openContractWorld } from "./scene/contract_world.ts";
import { drawnLooks, WAYS } from "./scene/drawn_looks.ts";
import { createRightsizedWorld, rightsizingHands } from "./scene/rightsized_world.ts";

/** What rightsizing is about, by container, and the class that comes of it. */
function valuesOf({ containers, qosClass }: Pod): unknown {
  return [
    qosClass,
    containers.map((
      {
        name,
        requests: { cpu: requestCPU, memory: requestMemory },
        limits: { cpu: limitCPU, memory: limitMemory },
      },
    ) => [name, requestCPU, limitCPU, requestMemory, limitMemory] as const),
  ];
}

Deno.test("property 10: new pods get each container's values once, the same as pods that were resized, on a real API server", async () => {
  const { connection, namespace, close } = await openContractWorld();
  try {
    const world = createRightsizedWorld(connection, namespace);
    let given = 0;
    await fc.assert(
      fc.asyncProperty(
        drawnLooks(WAYS["resized in place"] ?? {}),
        async ({ as, looks: [look] }) => {
          const { containers } = look.workload.template;
          const old: RightsizingFacts = {
            ...look,
            marketManages: false,
            // The old pod is as its template says: nothing has been set before.
            inForce: new Map(),
            pods: [workloadPod("old", containers)],
          };
          const { facts } = await world.make(old, as);
          const decision = decideRightsizing(facts);
          if (decision.outcome === "hold") return;
          const pods = new Map(facts.pods.map((pod) => [pod.metadata.uid, pod]));
          const appliers = rightsizingHands(connection);
          const { inForce = new Map(), failure } = await applyDecision(facts, decision, {
            pods,
            appliers,
          });
          assert.equal(failure, undefined, JSON.stringify(failure));

          const young = await world.make(old, as);
          const [, raw] = young.stored;
          const steps = podCreationPatch(createdPod(raw), inForce);
          assert.equal(new Set(steps.map(({ path }) => path)).size, steps.length);
          const [{ metadata } = assert.fail("no pod")] = young.facts.pods;
          if (steps.length > 0) {
            // The server's own hand at JSON patches; it changes a stored pod's resources only here.
            await connection.request({
              method: "PATCH",
              path: `/api/v1/namespaces/${namespace}/pods/${metadata.name}/resize`,
              contentType: "application/json-patch+json",
              body: steps,
            });
            given++;
          }
          const [resized, created] = await Promise.all([
            world.read(facts),
            world.read(young.facts),
          ]);
          assert.deepEqual(created.facts.pods.map(valuesOf), resized.facts.pods.map(valuesOf));
        },
      ),
      { numRuns: 120 },
    );
    assert.ok(given >= 100, `${given}`);
  } finally {
    await close();
  }
});
