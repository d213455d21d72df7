/**
 * What the controller does with each right that the component placement adds.
 *
 * @module
 */
import assert from "node:assert/strict";
import { createCheckpointStore } from "../../../adapters/kube/writers/checkpoint_store.ts";
import type { CheckpointStore } from "../../../shared/control/persisted_map.ts";
import type { KubeConnection } from "../../../adapters/kube/client/connection.ts";
import {
  createDeletionCostWriter,
  createPodEvictor,
} from "../../../adapters/kube/writers/pod_writers.ts";
import { objectOf, textsOf } from "../../../adapters/kube/client/json_fields.ts";
import { parseIdentity } from "../../../adapters/kube/kinds/object_fields.ts";
import { persistentVolumeListWatch } from "../../../adapters/kube/kinds/nodes.ts";
import { podDisruptionBudgetListWatch } from "../../../adapters/kube/kinds/pod_disruption_budgets.ts";
import { replicaSetListWatch } from "../../../adapters/kube/kinds/workloads.ts";
import { MEMORY_LABEL } from "../../../shared/placement/status.ts";
import { DELETION_COST } from "../../../shared/placement/split.ts";
import { followActs } from "./follow_acts.ts";
import type { RoleAct } from "./role_act.ts";
import { MADE, REMEMBERED, type RoleStage } from "./role_stage.ts";

const CONFIG_MAPS = "configmaps in mbcas-system";
const VOLUMES = "/api/v1/persistentvolumes";
/** Of what is not there before. */
const FRESH = "fresh-memory";
/** Anything but what pods are made with. */
const COST = -7;

/** A volume that no claim can bind, named as the stage's namespace; it is removed in the end. */
export async function setVolume(
  { admin, namespace }: Pick<RoleStage, "admin" | "namespace">,
): Promise<AsyncDisposable> {
  const body = {
    metadata: { name: namespace },
    spec: {
      capacity: { storage: "1Mi" },
      accessModes: ["ReadWriteOnce"],
      persistentVolumeReclaimPolicy: "Retain",
      storageClassName: MADE,
      hostPath: { path: "/nowhere" },
    },
  };
  await admin.request({ method: "POST", path: VOLUMES, body });
  const path = `${VOLUMES}/${namespace}`;
  return {
    [Symbol.asyncDispose]: async () => void await admin.request({ method: "DELETE", path }),
  };
}

/** The copies of kinds in the whole cluster. */
const FOLLOWED: readonly RoleAct[] = [
  {
    rights: "replicasets.apps",
    kind: "ReplicaSets",
    source: replicaSetListWatch,
    name: () => MADE,
  },
  {
    rights: "poddisruptionbudgets.policy",
    kind: "budgets",
    source: podDisruptionBudgetListWatch,
    name: () => MADE,
  },
  {
    rights: "persistentvolumes",
    kind: "volumes",
    source: persistentVolumeListWatch,
    name: ({ namespace }: RoleStage) => namespace,
  },
].flatMap((kind) => followActs({ ...kind, source: (connection) => kind.source(connection) }));

/** What is done to pods. */
const POD_ACTS: readonly RoleAct[] = [
  {
    right: "create pods/eviction",
    deed: "move a replica",
    async perform(connection, { admin, namespace }) {
      const path = `/api/v1/namespaces/${namespace}/pods`;
      const containers = [{ name: "app", image: "busybox:stable" }];
      const body = {
        metadata: { generateName: "moved-" },
        spec: { schedulerName: "none", containers },
      };
      const { name, uid } = parseIdentity(await admin.request({ method: "POST", path, body }));
      const { is } = await createPodEvictor(connection).evict({ namespace, name, uid });
      assert.equal(is, "evicted");
      await assert.rejects(admin.request({ path: `${path}/${name}` }), /not found/);
    },
  },
  {
    right: "patch pods",
    deed: "say which replica a scale-down takes first",
    async perform(connection, { admin, namespace, pod: { metadata: { name, uid } } }) {
      assert.ok(await createDeletionCostWriter(connection).write({ namespace, name, uid }, COST));
      const raw = await admin.request({ path: `/api/v1/namespaces/${namespace}/pods/${name}` });
      const { annotations } = objectOf(objectOf(raw).metadata);
      assert.equal(textsOf(annotations)[DELETION_COST], String(COST));
    },
  },
];

function memory(connection: KubeConnection, { namespace }: RoleStage): CheckpointStore {
  const manager = "mbcas-placement";
  return createCheckpointStore(connection, { namespace, label: MEMORY_LABEL, manager });
}

/** What is there as the controller sees it. */
async function kept(connection: KubeConnection, stage: RoleStage): Promise<readonly string[]> {
  const all = await memory(connection, stage).list(new AbortController().signal);
  return all.map(({ name }) => name);
}

/** Cooldowns and shortages, in the ConfigMaps in which they outlive the controller. */
const MEMORY_ACTS: readonly RoleAct[] = [
  {
    right: `list ${CONFIG_MAPS}`,
    deed: "take up its memory",
    async perform(connection, stage) {
      assert.ok((await kept(connection, stage)).includes(REMEMBERED));
    },
  },
  {
    right: `create ${CONFIG_MAPS}`,
    deed: "remember something of another namespace",
    async perform(connection, stage) {
      const { signal } = new AbortController();
      await memory(connection, stage).apply({ name: FRESH, data: { a: "1" } }, signal);
      assert.ok((await kept(connection, stage)).includes(FRESH));
    },
  },
  {
    right: `patch ${CONFIG_MAPS}`,
    deed: "remember something of a namespace",
    async perform(connection, stage) {
      const { signal } = new AbortController();
      const store = memory(connection, stage);
      await store.apply({ name: REMEMBERED, data: { a: "1" } }, signal);
      const found = (await store.list(signal)).find(({ name }) => name === REMEMBERED);
      assert.deepEqual(found?.data, { a: "1" });
    },
  },
  {
    right: `delete ${CONFIG_MAPS}`,
    deed: "forget what is over",
    async perform(connection, stage) {
      await memory(connection, stage).remove(REMEMBERED, new AbortController().signal);
      assert.ok(!(await kept(connection, stage)).includes(REMEMBERED));
    },
  },
];

/** In an order in which each finds what it needs. */
export const PLACEMENT_ACTS: readonly RoleAct[] = [...FOLLOWED, ...POD_ACTS, ...MEMORY_ACTS];
