/**
 * Kubernetes' own housekeeping of allocations goes on under the admission policies: all of it is done
 * here by its controllers, the test only takes pods and namespaces away.
 *
 * @module
 */
import assert from "node:assert/strict";
import { allocationPath, allocationsPath } from "../../adapters/kube/allocation_path.ts";
import type { OpenKubeConnection } from "../../adapters/kube/connection.ts";
import { listOf, objectOf } from "../../adapters/kube/json_fields.ts";
import { connectKubeconfig } from "../../adapters/kube/kubeconfig_connection.ts";
import { parseIdentity } from "../../adapters/kube/object_identity.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import { createKubectl } from "./kubectl.ts";
import { applyRights } from "./rendered_manifests.ts";
import { scratchNamespace } from "./scene/scratch_namespace.ts";
import { pause, until } from "./scene/until.ts";

/** The collector looks for new kinds every 30 s. */
const COLLECTED = { timeoutMs: 90_000 };

/** A pod that nobody runs, and an allocation that it owns. */
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
        spec: { schedulerName: "nobody", containers: [{ name: "app", image: "busybox:stable" }] },
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
  try {
    const { ownerReferences } = objectOf(objectOf(await admin.request({ path })).metadata);
    return listOf(ownerReferences).length;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}

function whenGone(admin: OpenKubeConnection, path: string): Promise<true> {
  return until(
    `end of ${path}`,
    async () => await owners(admin, path) === undefined || undefined,
    COLLECTED,
  );
}

Deno.test("housekeeping of allocations on a real API server", async (t) => {
  await applyRights(createKubectl());
  const admin = await connectKubeconfig();
  const marks = { annotations: { "mbcas.io/managed": "false" } };
  const remove = (path: string, propagationPolicy: string): Promise<unknown> =>
    admin.request({
      method: "DELETE",
      path,
      query: { gracePeriodSeconds: "0" },
      body: { kind: "DeleteOptions", apiVersion: "v1", propagationPolicy },
    });
  try {
    await using scratch = await scratchNamespace(admin, marks);
    const { name: namespace } = scratch;
    const beside = await ownedPair(admin, { namespace, name: "beside" });

    await t.step("an allocation goes with its pod", async () => {
      const { pod, allocation } = await ownedPair(admin, { namespace, name: "deleted" });
      await remove(pod, "Background");
      await whenGone(admin, allocation);
    });
    await t.step("an allocation that blocks nothing goes before its pod, if asked so", async () => {
      const { pod, allocation } = await ownedPair(admin, { namespace, name: "foreground" });
      await remove(pod, "Foreground");
      await whenGone(admin, pod);
      await whenGone(admin, allocation);
    });
    await t.step(
      "a pod that is to leave its allocation behind is taken from its owners",
      async () => {
        const { pod, allocation } = await ownedPair(admin, { namespace, name: "orphaned" });
        await remove(pod, "Orphan");
        await whenGone(admin, pod);
        assert.equal(await owners(admin, allocation), 0);
      },
    );
    await t.step("an allocation that waits for what it owns is let go of", async () => {
      const { allocation } = await ownedPair(admin, { namespace, name: "waiting" });
      await remove(allocation, "Foreground");
      await whenGone(admin, allocation);
    });
    await t.step("an allocation whose pod stays, stays", async () => {
      await pause(2000);
      assert.equal(await owners(admin, beside.allocation), 1);
    });
    await t.step("an allocation goes with its namespace", async () => {
      const other = await scratchNamespace(admin, marks);
      const { allocation } = await ownedPair(admin, { namespace: other.name, name: "inside" });
      const path = `/api/v1/namespaces/${other.name}`;
      await admin.request({ method: "DELETE", path });
      await whenGone(admin, allocation);
      await whenGone(admin, path);
    });
  } finally {
    admin.close();
  }
});
