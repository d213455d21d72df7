/**
 * Property 16 in the loop: workloads of several namespaces, under policies that reach them or not.
 *
 * @module
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import type { WorkloadKind } from "../../shared/api/workload.ts";
import { templateContainer } from "../fixtures/rightsizing/rightsizing_facts.ts";
import { NAMESPACE, type RightsizingScene } from "../fixtures/rightsizing/rightsizing_scene.ts";
import { inWorld, worldProperty } from "../fixtures/rightsizing/rightsizing_worlds.ts";

const MINUTE_MS = 60_000;
const NAMESPACES = [NAMESPACE, "bank", "ops"];
const KINDS = ["Deployment", "StatefulSet", "DaemonSet"] as const;

interface Place {
  readonly namespace: string;
  readonly kind: WorkloadKind;
}

/** A workload `web` without pods. */
function create({ api }: RightsizingScene, { namespace, kind }: Place): void {
  api.store.tables[kind].create({
    kind,
    metadata: { name: "web", namespace, uid: "", resourceVersion: "", labels: {}, annotations: {} },
    rollout: { updated: 0, total: 0, stands: false },
    makes: {
      paused: false,
      replicas: 0,
      template: { containers: [templateContainer()], initContainers: [] },
    },
  });
}

const textOf = ({ namespace, kind }: Place): string => `${namespace}/${kind}`;

worldProperty(
  "property 16 in the loop: what is looked at is what a policy matches within its reach, no more and no less",
  [
    fc.uniqueArray(
      fc.record({ namespace: fc.constantFrom(...NAMESPACES), kind: fc.constantFrom(...KINDS) }),
      { selector: textOf, minLength: 1, maxLength: 9 },
    ),
    fc.subarray(NAMESPACES),
    fc.subarray(NAMESPACES),
    fc.subarray([...KINDS]),
    fc.boolean(),
  ],
  (places, allow, deny, workloadKinds, reachesAll) =>
    inWorld([], async (scene) => {
      for (const name of NAMESPACES.filter((one) => one !== NAMESPACE)) {
        scene.api.store.tables.Namespace.create({
          metadata: { name, uid: "", resourceVersion: "", labels: {}, annotations: {} },
        });
      }
      for (const place of places) create(scene, place);
      scene.config.policyNamespaces = reachesAll ? [NAMESPACE] : ["ops"];
      scene.policy("all", { selector: { namespaces: { allow, deny }, workloadKinds } });
      await scene.run(7 * MINUTE_MS);
      const asked = scene.source.asked.map(({ namespace, workload: { kind } }) => ({
        namespace,
        kind,
      }));
      const expected = places.filter(({ namespace, kind }) =>
        (reachesAll || namespace === NAMESPACE) &&
        (allow.length === 0 || allow.includes(namespace)) && !deny.includes(namespace) &&
        workloadKinds.includes(kind)
      );
      assert.deepEqual(
        [...new Set(asked.map(textOf))].toSorted(),
        expected.map(textOf).toSorted(),
      );
      assert.equal(scene.statusOf("all").workloadsDiscovered, expected.length);
    }),
);
