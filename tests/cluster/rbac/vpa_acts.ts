/**
 * What the controller does with the rights to publish VerticalPodAutoscalers.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { KubeConnection } from "../../../adapters/kube/client/connection.ts";
import { listOf, objectOf, textOf } from "../../../adapters/kube/client/json_fields.ts";
import { createVPAPublisher } from "../../../adapters/kube/writers/recommendation_writers.ts";
import { ApiError } from "../../../shared/api/api_error.ts";
import { type PublishedVPA, publishedVPA } from "../../../shared/rightsizing/published_vpa.ts";
import { vpasPath } from "../scene/vpa_definition.ts";
import type { RoleAct } from "./role_act.ts";
import type { RoleStage } from "./role_stage.ts";

const RIGHTS = "verticalpodautoscalers.autoscaling.k8s.io";
const CPU = 150;

function published({ namespace }: Pick<RoleStage, "namespace">): PublishedVPA {
  const metadata = { name: "published", namespace, uid: crypto.randomUUID() };
  const { metadata: { ownerReferences: _owner, ...named }, ...vpa } = publishedVPA(
    { kind: "Deployment", metadata: { ...metadata, resourceVersion: "", annotations: {} } },
    [{ container: "app", cpu: CPU, memory: 2 ** 20, explanation: "" }],
  );
  // Its owner does not exist: the garbage collector would delete it at once.
  return { ...vpa, metadata: { ...named, ownerReferences: [] } };
}

async function uidOf({ admin, namespace }: RoleStage, { metadata }: PublishedVPA): Promise<string> {
  const path = `${vpasPath(namespace)}/${metadata.name}`;
  return textOf(objectOf(objectOf(await admin.request({ path })).metadata).uid) ?? "";
}

/**
 * RBAC is asked before the server looks whether it has the kind: only permitted accounts see that there
 * is none, those that may ask.
 */
async function whereServed(
  { servesVPA }: RoleStage,
  act: () => Promise<unknown>,
): Promise<void> {
  if (servesVPA) return void await act();
  await assert.rejects(act, (error) => {
    if (error instanceof ApiError && error.status === 404) return true;
    throw error;
  });
}

const NO_UID = "00000000-0000-0000-0000-000000000000";

/** In an order in which each finds what it needs. */
export const VPA_ACTS: readonly RoleAct[] = [
  {
    right: `create ${RIGHTS}`,
    deed: "publish a recommendation as a VPA",
    perform: (connection: KubeConnection, stage) =>
      whereServed(stage, async () => {
        const uid = await createVPAPublisher(connection).create(published(stage));
        assert.equal(await uidOf(stage, published(stage)), uid);
      }),
  },
  {
    right: "patch verticalpodautoscalers/status.autoscaling.k8s.io",
    deed: "say in a VPA what is recommended",
    perform: (connection, stage) =>
      whereServed(stage, async () => {
        const vpa = published(stage);
        const uid = stage.servesVPA ? await uidOf(stage, vpa) : NO_UID;
        await createVPAPublisher(connection).recommend(vpa, uid);
        const path = `${vpasPath(stage.namespace)}/${vpa.metadata.name}`;
        const { status } = objectOf(await stage.admin.request({ path }));
        const { containerRecommendations } = objectOf(objectOf(status).recommendation);
        const [first] = listOf(containerRecommendations).map(objectOf);
        assert.equal(objectOf(first?.target).cpu, `${CPU}m`);
      }),
  },
  {
    right: `delete ${RIGHTS}`,
    deed: "withdraw a published VPA",
    perform: (connection, stage) =>
      whereServed(stage, async () => {
        const vpa = published(stage);
        const { namespace, name } = vpa.metadata;
        const uid = stage.servesVPA ? await uidOf(stage, vpa) : NO_UID;
        await createVPAPublisher(connection).remove({ namespace, name, uid });
        await assert.rejects(uidOf(stage, vpa), /not found/);
      }),
  },
];
