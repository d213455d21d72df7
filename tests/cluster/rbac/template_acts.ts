/**
 * What the controller reads of owners: the template that a pod was made from.
 *
 * @module
 */
import assert from "node:assert/strict";
import { createOwnerTemplates } from "../../../adapters/kube/kinds/owner_templates.ts";
import type { RoleAct } from "./role_act.ts";
import { MADE } from "./role_stage.ts";

interface OwnerKind {
  readonly right: string;
  readonly apiVersion: string;
  readonly kind: string;
}

const OWNERS: readonly OwnerKind[] = [
  { right: "get replicasets.apps", apiVersion: "apps/v1", kind: "ReplicaSet" },
  { right: "get controllerrevisions.apps", apiVersion: "apps/v1", kind: "StatefulSet" },
  { right: "get jobs.batch", apiVersion: "batch/v1", kind: "Job" },
];

/** An act for each place where a template may stand. */
export function templateActs(): readonly RoleAct[] {
  return OWNERS.map(({ right, apiVersion, kind }) => ({
    right,
    deed: `read original limits from the template of a ${kind}`,
    async perform(connection, { pod }) {
      const owner = { apiVersion, kind, name: MADE, uid: crypto.randomUUID() };
      // The name of the revision that a pod of a StatefulSet was made from.
      const labels = { "controller-revision-hash": MADE };
      const limits = await createOwnerTemplates(connection).limitsOf({
        ...pod,
        metadata: { ...pod.metadata, labels, owner },
      });
      assert.deepEqual(limits, new Map([["app", 200]]));
    },
  }));
}
