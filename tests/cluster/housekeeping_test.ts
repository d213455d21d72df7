/**
 * Kubernetes' own housekeeping of allocations goes on under the admission policies: it is done here by
 * its controllers, the test only takes pods and namespaces away; but for one name that controllers have
 * in other clusters.
 */
import assert from "node:assert/strict";
import { allocationPath, allocationsPath } from "../../adapters/kube/kinds/allocations.ts";
import type { OpenKubeConnection } from "../../adapters/kube/client/connection.ts";
import { listOf, objectOf } from "../../adapters/kube/client/json_fields.ts";
import { parseIdentity } from "../../adapters/kube/kinds/object_fields.ts";
import { createKubectl, type KubectlAnswer } from "./kubectl.ts";
import { grant } from "./scene/policy_stage.ts";
import { applyRights } from "./rendered_manifests.ts";
import { openRealNode, orGone, scratchNamespace } from "./scene/real_node.ts";
import { until } from "./scene/until.ts";

const kubectl = createKubectl();
/** The collector looks for new kinds every 30 s. */
const COLLECTED = { timeoutMs: 90_000 };

/** A pod without a node, and an allocation that it owns. */
interface Owned {
  readonly pod: string;
  readonly allocation: string;
}

async function ownedPair(
  admin: OpenKubeConnection,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): Promise<Owned> {
  const pods = `/api/v1/namespaces/${namespace}/pods`;
  const { uid } = parseIdentity(
    await admin.request({
      method: "POST",
      path: pods,
      body: {
        metadata: { name },
        spec: { schedulerName: "none", containers: [{ name: "app", image: "busybox:stable" }] },
      },
    }),
  );
  await admin.request({
    method: "POST",
    path: allocationsPath(namespace),
    body: {
      apiVersion: "allocation.mbcas.io/v1alpha1",
      kind: "PodAllocation",
      // Not named by the pod's UID: then the installed controller does not know it for the pod's.
      metadata: { name, ownerReferences: [{ apiVersion: "v1", kind: "Pod", name, uid }] },
      spec: { podName: name, podUID: uid, nodeName: "another-node", namespace },
    },
  });
  return { pod: `${pods}/${name}`, allocation: allocationPath({ namespace, name }) };
}

/** How many owners the object has; undefined when it is gone. */
async function owners(admin: OpenKubeConnection, path: string): Promise<number | undefined> {
  const raw = await orGone(admin.request({ path }));
  return raw === undefined
    ? undefined
    : listOf(objectOf(objectOf(raw).metadata).ownerReferences).length;
}

function whenGone(admin: OpenKubeConnection, path: string): Promise<true> {
  return until(
    `end of ${path}`,
    async () => await owners(admin, path) === undefined || undefined,
    COLLECTED,
  );
}

/** Takes an allocation's owners away, as the garbage collector does, under this name. */
function letGoAs(
  user: string,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): Promise<KubectlAnswer> {
  return kubectl.run([
    ...["patch", "podallocations", name, "-n", namespace, `--as=${user}`, "--type=merge"],
    ...["-p", JSON.stringify({ metadata: { ownerReferences: null } })],
  ]);
}

Deno.test("housekeeping of allocations on a real API server", async (t) => {
  await applyRights(kubectl);
  using node = await openRealNode();
  const { connection: admin } = node;
  const marks = { annotations: { "mbcas.io/managed": "false" } };
  const remove = (path: string, propagationPolicy: string): Promise<unknown> =>
    admin.request({
      method: "DELETE",
      path,
      query: { gracePeriodSeconds: "0" },
      body: { kind: "DeleteOptions", apiVersion: "v1", propagationPolicy },
    });
  await using scratch = await scratchNamespace(admin, marks);
  const { name: namespace } = scratch;
  const beside = await ownedPair(admin, { namespace, name: "beside" });

  for (
    const [what, of, propagationPolicy, left] of [
      ["goes with its pod", "pod", "Background", undefined],
      ["that blocks nothing goes before its pod, if asked so", "pod", "Foreground", undefined],
      ["that a pod is to leave behind is taken from its owners", "pod", "Orphan", 0],
      ["that waits for what it owns is let go of", "allocation", "Foreground", undefined],
    ] as const
  ) {
    await t.step(`an allocation ${what}`, async () => {
      const name = `${of}-${propagationPolicy.toLowerCase()}`;
      const pair = await ownedPair(admin, { namespace, name });
      await remove(pair[of], propagationPolicy);
      await whenGone(admin, pair[of]);
      if (left === undefined) await whenGone(admin, pair.allocation);
      else assert.equal(await owners(admin, pair.allocation), left);
    });
  }
  await t.step(
    "a controller manager without accounts for its controllers collects garbage, too",
    async () => {
      // By default all its controllers act under its own name: accounts for each are an option,
      // --use-service-account-credentials, which kubeadm and this cluster set.
      const { allocation } = await ownedPair(admin, { namespace, name: "by-hand" });
      const users = ["system:kube-controller-manager", "system:kube-scheduler"];
      // With these rights only the policy can refuse them.
      const resources = ["podallocations"];
      const rules = [{ apiGroups: ["allocation.mbcas.io"], resources, verbs: ["get", "patch"] }];
      await grant(admin, { namespace, to: users, rules });
      const can = ["auth", "can-i", "patch", "podallocations", "-n", namespace];
      await Promise.all(users.map((user) =>
        until(`rights of ${user}`, async () => {
          // Rights take effect some moments after they were written.
          return (await kubectl.run([...can, `--as=${user}`])).ok ? true : undefined;
        })
      ));
      const [manager, other] = await Promise.all(
        users.map((user) => letGoAs(user, { namespace, name: "by-hand" })),
      );
      assert.match(
        other?.stderr ?? "",
        /ValidatingAdmissionPolicy 'mbcas-agent-allocations' .*\badminister podallocations\b/,
      );
      assert.equal(manager?.stderr, "");
      assert.equal(await owners(admin, allocation), 0);
    },
  );
  await t.step("an allocation with a pod that stays, stays", async () => {
    assert.equal(await owners(admin, beside.allocation), 1);
  });
  await t.step("an allocation goes with its namespace", async () => {
    const other = await scratchNamespace(admin, marks);
    const { allocation } = await ownedPair(admin, other.pod("inside"));
    const path = `/api/v1/namespaces/${other.name}`;
    await admin.request({ method: "DELETE", path });
    await whenGone(admin, allocation);
    await whenGone(admin, path);
  });
});
