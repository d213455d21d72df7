/** What the controller's account may change of a pod, on a real API server: the deletion cost. */
import assert from "node:assert/strict";
import { isAllowed } from "../../adapters/kube/client/api_checks.ts";
import type { OpenKubeConnection } from "../../adapters/kube/client/connection.ts";
import { listOf, objectOf, textsOf } from "../../adapters/kube/client/json_fields.ts";
import {
  createDeletionCostWriter,
  createPodResizer,
} from "../../adapters/kube/writers/pod_writers.ts";
import { podPath } from "../../cli/coalloc/kube/cluster_reader.ts";
import type { Pod } from "../../shared/api/pod.ts";
import { DELETION_COST } from "../../shared/placement/split.ts";
import { MARKET_MANAGER } from "../../shared/resize/original_limits.ts";
import { resizePatch } from "../../shared/resize/patch.ts";
import { sampleContainer } from "../contract/support/sample_objects.ts";
import { createKubectl } from "./kubectl.ts";
import { grant, installPolicy, untilInForce } from "./policy/policy_stage.ts";
import {
  assertRefused,
  type Change,
  denial,
  type Manner,
  MANNERS,
  type Target,
  versionOf,
  write,
} from "./policy/write_manners.ts";
import { applyRights } from "./rendered_manifests.ts";
import { requestToken, tokenConnector } from "./scene/account_token.ts";
import { type ContractWorld, worldTest } from "./scene/contract_world.ts";
import { PRODUCT_NAMESPACE } from "./scene/product.ts";
import { until } from "./scene/until.ts";

const POLICY = "mbcas-placement-pods";
const ACCOUNT = { namespace: PRODUCT_NAMESPACE, account: "mbcas-controller" } as const;

/** What the pod has beside it. */
const MARKS = { labels: { app: "web" }, annotations: { "example.com/mine": "1" } } as const;

/** Sets the deletion cost; an update writes the other annotations, too. */
function cost(value: number): Change {
  return { metadata: { annotations: { ...MARKS.annotations, [DELETION_COST]: String(value) } } };
}

/** The account with all rights on pods of the world's namespace that placement could have. */
async function connectController(
  { connection: admin, namespace }: ContractWorld,
): Promise<OpenKubeConnection> {
  const kubectl = createKubectl();
  await applyRights(kubectl);
  const rules = [{ apiGroups: [""], resources: ["pods"], verbs: ["get", "update", "patch"] }];
  await grant(admin, { namespace, account: ACCOUNT.account, rules });
  const controller = await (await tokenConnector(kubectl))(await requestToken(admin, ACCOUNT));
  const right = { verb: "patch", group: "", resource: "pods", namespace };
  await until("rights on pods", async () => await isAllowed(controller, right) || undefined);
  return controller;
}

/** What the controller may not change, and how the policy calls it. */
function forbidden(raw: unknown): readonly (readonly [string, Change, Manner[]?])[] {
  const [container] = listOf(objectOf(objectOf(raw).spec).containers).map(objectOf);
  const owner = { apiVersion: "v1", kind: "Pod", name: "x", uid: "x" };
  return [
    ["spec", { spec: { containers: [{ ...container, image: "registry.example.com/stolen" }] } }],
    ["spec", { spec: { activeDeadlineSeconds: 1 } }],
    ["no annotation", { metadata: { annotations: { "example.com/other": "1" } } }],
    // An apply takes away only what it wrote itself.
    ["no annotation", { metadata: { annotations: null } }, ["update", "patch"]],
    ["metadata.labels", { metadata: { labels: { app: "other" } } }],
    ["metadata.labels", { metadata: { labels: null } }, ["update", "patch"]],
    ["metadata.ownerReferences", { metadata: { ownerReferences: [owner] } }],
    ["metadata.finalizers", { metadata: { finalizers: ["example.com/x"] } }],
  ];
}

worldTest(
  "the controller's account changes nothing of a pod but the deletion cost",
  async (world) => {
    const { connection: admin } = world;
    await using _policy = await installPolicy(createKubectl(), POLICY);
    const pod: Pod = await world.runningPod("web", [sampleContainer()]);
    const { name, namespace, uid } = pod.metadata;
    const path = podPath({ namespace, name });
    const target: Target = { apiVersion: "v1", kind: "Pod", path };
    await write(admin, { manner: "patch", target, change: { metadata: MARKS } });
    const controller = await connectController(world);
    try {
      const probe: Change = { metadata: { labels: { probe: "1" } } };
      await untilInForce(
        new RegExp(POLICY),
        () =>
          write(controller, {
            manner: "patch",
            target: { ...target, dryRun: true },
            change: probe,
          }),
      );
      for (const [index, manner] of MANNERS.entries()) {
        const change = cost(-index - 1);
        await write(controller, { manner, target, change });
        const { annotations } = objectOf(objectOf(await admin.request({ path })).metadata);
        assert.deepEqual(textsOf(annotations), change.metadata?.annotations);
      }
      await untilAtRest(admin, path);
      const raw = await admin.request({ path });
      for (const manner of MANNERS) {
        for (const [message, change, manners = MANNERS] of forbidden(raw)) {
          if (!manners.includes(manner)) continue;
          const refusal = { message: denial(POLICY, message) };
          const before = await versionOf(admin, path);
          // Alone, and in passing beside what it may change.
          const metadata = { ...cost(-9).metadata, ...change.metadata };
          for (const one of [change, { ...change, metadata }]) {
            await assertRefused(() => write(controller, { manner, target, change: one }), refusal);
          }
          assert.equal(await versionOf(admin, path), before, `${message} by ${manner}`);
        }
      }
      // What the product does goes on, and others are not asked.
      assert.equal(
        await createDeletionCostWriter(controller).write({ namespace, name, uid }, -7),
        true,
      );
      const resizer = createPodResizer(controller, { fieldManager: MARKET_MANAGER });
      const changes = [{ name: "app", sidecar: false, requests: {}, limits: { cpu: 300 } }];
      await resizer.resize(namespace, name, resizePatch(uid, changes));
      await write(admin, {
        manner: "patch",
        target,
        change: { metadata: { labels: { app: "x" } } },
      });
    } finally {
      controller.close();
    }
  },
);

/** Waits until the kubelet has written the whole status of a pod that has begun to run. */
async function untilAtRest(admin: OpenKubeConnection, path: string): Promise<void> {
  let before = "";
  await until("pod at rest", async () => {
    const now = await versionOf(admin, path);
    const isAtRest = now === before;
    before = now;
    return isAtRest || undefined;
  }, { everyMs: 3000 });
}
