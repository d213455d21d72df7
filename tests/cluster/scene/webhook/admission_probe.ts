/**
 * Asks what the webhook would do with one more pod of a workload: the server is asked to try its creation.
 *
 * @module
 */
import { listOf, objectOf, textOf, textsOf } from "../../../../adapters/kube/client/json_fields.ts";
import { parseIdentity } from "../../../../adapters/kube/kinds/object_fields.ts";
import { CAPACITY } from "../../../../shared/api/placement_keys.ts";
import { placedWorkload } from "../pods/placed_workload.ts";
import type { PlacementBed } from "../placement_bed.ts";
import { until } from "../until.ts";

/** Asks for pods of a Deployment of its own. */
export interface AdmissionProbe {
  /** The class that the pod would be given; undefined where it would be stored as it was sent. */
  ask(): Promise<string | undefined>;
  /** The pod that is tried, as its ReplicaSet would send it. */
  readonly pod: Readonly<Record<string, unknown>>;
}

/** Makes the Deployment, of one replica, all of them for spot nodes. */
export async function admissionProbe(
  { node: { connection, create }, namespace }: Pick<PlacementBed, "node" | "namespace">,
  { scene, annotations = {} }: {
    readonly scene: string;
    /** More of the Deployment's. */
    readonly annotations?: Readonly<Record<string, string>>;
  },
): Promise<AdmissionProbe> {
  const name = `probe-${crypto.randomUUID().slice(0, 8)}`;
  const apps = `/apis/apps/v1/namespaces/${namespace}`;
  const workload = placedWorkload({
    name,
    namespace,
    scene,
    replicas: 1,
    share: "100%",
    annotations,
  });
  await create(`${apps}/deployments`, workload);
  const raw = await until(`ReplicaSet of ${name}`, async () => {
    const query = { labelSelector: `app=${name}` };
    const { items } = objectOf(await connection.request({ path: `${apps}/replicasets`, query }));
    return listOf(items)[0];
  });
  const set = parseIdentity(raw);
  const { template } = objectOf(objectOf(raw).spec);
  const { metadata, spec } = objectOf(template);
  const owner = {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    name: set.name,
    uid: set.uid,
    controller: true,
  };
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      generateName: `${set.name}-`,
      namespace,
      labels: objectOf(metadata).labels,
      ownerReferences: [owner],
    },
    spec,
  };
  return {
    pod,
    async ask() {
      const stored = await connection.request({
        method: "POST",
        path: `/api/v1/namespaces/${namespace}/pods`,
        query: { dryRun: "All" },
        body: pod,
      });
      const { labels } = objectOf(objectOf(stored).metadata);
      return textOf(textsOf(labels)[CAPACITY]);
    },
  };
}
