/**
 * Numbered properties of the values that rightsizing writes, of random workloads on a real API server.
 *
 * @module
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { readResizeSupport } from "../../adapters/kube/client/api_checks.ts";
import { objectOf } from "../../adapters/kube/client/json_fields.ts";
import { type Applied, applyDecision } from "../../controller/rightsizing/apply_decision.ts";
import type { Pod, PodContainer, Resources } from "../../shared/api/pod.ts";
import { parseBytes, parseCPU } from "../../shared/quantity.ts";
import {
  decideRightsizing,
  type RightsizingDecision,
} from "../../shared/rightsizing/guards/decide_rightsizing.ts";
import { inPlacePlan } from "../../shared/rightsizing/guards/method.ts";
import type { RightsizingFacts } from "../../shared/rightsizing/guards/rightsizing_facts.ts";
import { anyContainers } from "../fixtures/rightsizing/rightsizing_arbitrary.ts";
import { podsAfter } from "../fixtures/rightsizing/rightsizing_patches.ts";
import { openContractWorld, worldTest } from "./scene/contract_world.ts";
import {
  createRightsizedWorld,
  type Drawn,
  drawnLooks,
  type RightsizedWorld,
  rightsizingHands,
  type StoredSpec,
  WAYS,
} from "./scene/rightsized_world.ts";
import { patchRequest } from "../../adapters/kube/client/connection.ts";
import { podCreationPatch, readCreatedPod } from "../../shared/rightsizing/pod_creation_patch.ts";
import { workloadPod } from "../fixtures/rightsizing/rightsizing_facts.ts";

const CASES = { numRuns: 100 } as const;

type Apply = Extract<RightsizingDecision, { readonly outcome: "apply" }>;

/** What a look has come to. */
interface Change {
  readonly decision: Apply;
  readonly applied: Applied;
  /** Of the workload and then the pods, as the server has them. */
  readonly before: readonly StoredSpec[];
  readonly after: readonly StoredSpec[];
  readonly seen: RightsizingFacts;
  readonly left: RightsizingFacts;
}

/** Makes the workload, and does what each of the looks decides. */
async function lookTwice(
  { as, looks: [first, second] }: Drawn,
  { world, connection }: Scene,
  check: (change: Change) => void,
): Promise<void> {
  let present = await world.make(first, as);
  let inForce = first.inForce;
  for (const look of [first, second]) {
    const { facts: { workload, pods }, stored: before } = present;
    const seen = { ...look, workload, pods, inForce };
    const decision = decideRightsizing(seen);
    if (decision.outcome === "hold") continue;
    const own = new Map(pods.map((pod) => [pod.metadata.uid, pod]));
    const appliers = rightsizingHands(connection);
    const applied = await applyDecision(seen, decision, { pods: own, appliers });
    present = await world.read(seen);
    inForce = applied.inForce ?? inForce;
    check({ decision, applied, before, after: present.stored, seen, left: present.facts });
  }
}

interface Scene {
  readonly world: RightsizedWorld;
  readonly connection: Parameters<typeof rightsizingHands>[0];
}

function property(name: string, fn: (scene: Scene) => Promise<void>): void {
  worldTest(
    name,
    ({ connection, namespace }) =>
      fn({ connection, world: createRightsizedWorld(connection, namespace) }),
  );
}

/** Raw containers of a workload's template or of a pod, init containers last. */
function containersOf({ spec }: StoredSpec): readonly Readonly<Record<string, unknown>>[] {
  const pod = "template" in spec ? objectOf(objectOf(spec["template"]).spec) : spec;
  return [pod["containers"], pod["initContainers"] ?? []].flat().map(objectOf);
}

/** All but the resources of containers. */
function withoutResources(stored: StoredSpec): unknown {
  return JSON.parse(
    JSON.stringify(stored),
    (key, value) => key === "resources" ? undefined : value,
  );
}

/** The fields that rightsizing is about. */
function valuesOf(
  {
    name,
    requests: { cpu: requestCPU, memory: requestMemory },
    limits: { cpu: limitCPU, memory: limitMemory },
  }: PodContainer,
): Resources & { readonly name: string } {
  return {
    name,
    requests: { cpu: requestCPU, memory: requestMemory },
    limits: { cpu: limitCPU, memory: limitMemory },
  } as Resources & { name: string };
}

for (const [way, strategy] of Object.entries(WAYS)) {
  property(
    `property 3: values that are ${way} leave limits as they are where only requests are wanted, on a real API server`,
    async (scene) => {
      const requestsOnly = drawnLooks({ ...strategy, updateRequestsOnly: true });
      const limits = (stored: StoredSpec): unknown =>
        containersOf(stored).map(({ name, resources }) => [name, objectOf(resources).limits]);
      let changes = 0;
      await fc.assert(
        fc.asyncProperty(
          requestsOnly,
          (one) =>
            lookTwice(one, scene, ({ applied, before, after }) => {
              assert.equal(applied.failure, undefined, JSON.stringify(applied.failure));
              assert.deepEqual(after.map(limits), before.map(limits));
              changes++;
            }),
        ),
        CASES,
      );
      assert.ok(changes > CASES.numRuns, `${changes}`);
    },
  );

  property(
    `property 10: values that are ${way} name every container once, and nothing else changes, on a real API server`,
    async (scene) => {
      const methods = new Set<string>();
      await fc.assert(
        fc.asyncProperty(
          drawnLooks(strategy),
          (one) =>
            lookTwice(one, scene, ({ decision, applied, before, after, seen, left }) => {
              assert.equal(applied.failure, undefined, JSON.stringify(applied.failure));
              methods.add(decision.method);
              assert.deepEqual(after.map(withoutResources), before.map(withoutResources));
              const plan = inPlacePlan(seen, decision.wanted);
              const pods = decision.method === "InPlace" ? podsAfter(seen, plan) : seen.pods;
              assert.deepEqual(
                left.pods.map(({ containers }) => containers.map(valuesOf)),
                pods.map(({ containers }) => containers.map(valuesOf)),
              );
              const template = seen.workload.template.containers.map((container) =>
                valuesOf(
                  decision.method === "InPlace" || container.sidecar
                    ? container
                    : { ...container, ...(decision.wanted.get(container.name) ?? {}) },
                )
              );
              assert.deepEqual(left.workload.template.containers.map(valuesOf), template);
              for (const { resources } of after.flatMap(containersOf)) {
                for (const quantities of Object.values(objectOf(resources)).map(objectOf)) {
                  const { cpu = "1", memory = "1" } = quantities;
                  assert.ok(parseCPU(String(cpu)) >= 0 && parseBytes(String(memory)) >= 0);
                  assert.doesNotMatch(String(memory), /m$/);
                }
              }
            }),
        ),
        CASES,
      );
      assert.equal(methods.size, 1);
    },
  );
}

property(
  "property 21: where it is supported and allowed, pods are resized and keep their UIDs, and the template is left, on a real API server",
  async (scene) => {
    const { resizeServed, lowersMemoryLimits } = await readResizeSupport(scene.connection);
    assert.equal(resizeServed, true);
    const restartless = anyContainers.map((all) =>
      all.map(({ restartsOnMemory: _restarts, ...one }) => ({ ...one, restartsOnCPU: false }))
    );
    const anyWay = fc.boolean().chain((allowRecreate) =>
      drawnLooks({ allowInPlaceResize: true, allowRecreate }, restartless)
    ).map(({ as, looks }): Drawn => {
      const served = (facts: RightsizingFacts) => ({ ...facts, resizeServed, lowersMemoryLimits });
      return { as, looks: [served(looks[0]), served(looks[1])] };
    });
    let resized = 0;
    await fc.assert(
      fc.asyncProperty(
        anyWay,
        (one) =>
          lookTwice(one, scene, ({ decision, applied, before, after, seen, left }) => {
            assert.equal(decision.method, "InPlace");
            assert.equal(applied.failure, undefined, JSON.stringify(applied.failure));
            const uids = (facts: RightsizingFacts) =>
              facts.pods.map(({ metadata }) => metadata.uid);
            assert.deepEqual(uids(left), uids(seen));
            assert.deepEqual(after[0], before[0]);
            const { pods } = inPlacePlan(seen, decision.wanted);
            resized += pods.length;
            // Once is enough: what is there now is what was meant.
            assert.deepEqual(inPlacePlan(left, decision.wanted).pods, []);
          }),
      ),
      CASES,
    );
    assert.ok(resized >= CASES.numRuns, `${resized}`);
  },
);

/** What rightsizing is about, by container, and the class that comes of it. */
function podValues({ containers, qosClass }: Pod): unknown {
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
          const steps = podCreationPatch(readCreatedPod(raw), inForce);
          assert.equal(new Set(steps.map(({ path }) => path)).size, steps.length);
          const [{ metadata } = assert.fail("no pod")] = young.facts.pods;
          if (steps.length > 0) {
            // The server's own hand at JSON patches; it changes a stored pod's resources only here.
            await connection.request(
              patchRequest("json", {
                path: `/api/v1/namespaces/${namespace}/pods/${metadata.name}/resize`,
                body: steps,
              }),
            );
            given++;
          }
          const [resized, created] = await Promise.all([
            world.read(facts),
            world.read(young.facts),
          ]);
          assert.deepEqual(created.facts.pods.map(podValues), resized.facts.pods.map(podValues));
        },
      ),
      { numRuns: 120 },
    );
    assert.ok(given >= 100, `${given}`);
  } finally {
    await close();
  }
});
