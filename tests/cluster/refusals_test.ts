/**
 * What the platform refuses or puts off: foreseen where a check can, named where it can't.
 *
 * @module
 */
import { patchRequest } from "../../adapters/kube/client/connection.ts";
import assert from "node:assert/strict";
import { createPodResizer } from "../../adapters/kube/writers/pod_writers.ts";
import { podPath } from "../../cli/coalloc/kube/cluster_reader.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import { refusalReason } from "../../shared/resize/refusal.ts";
import { MANAGED } from "../../shared/api/market_keys.ts";
import {
  appliedAllocation,
  assertAgreement,
  quotaOf,
  SETTLED,
  whenQuota,
  whenReason,
} from "./scene/limits.ts";
import { loadPod } from "./scene/load_pod.ts";
import { onNode, type RealNode } from "./scene/real_node.ts";
import { testsAtOnce } from "./scene/tests_at_once.ts";
import { pause, until } from "./scene/until.ts";

const containers = [{ name: "load", request: "50m", limit: "100m", burstSeconds: 90 }];

/** Warning events about refused changes in the namespace. */
async function refusedEvents({ connection }: RealNode, namespace: string): Promise<number> {
  const path = `/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
  const query = { fieldSelector: "reason=CPULimitFailed" };
  const { items } = await connection.request({ path, query }) as { items: unknown[] };
  return items.length;
}

/** The server's answer to a resize that it must refuse. */
async function refusal(action: () => Promise<unknown>): Promise<ApiError> {
  try {
    await action();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error("the server accepted what it should refuse");
}

// Their limits are small, so that all of them fit a busy machine.
testsAtOnce({
  "a LimitRange caps the raises, and a tightened one holds the limit, without a refused write":
    onNode(async (node, namespace) => {
      const path = `/api/v1/namespaces/${namespace.name}/limitranges`;
      const range = (max: string): unknown => ({
        metadata: { name: "cap" },
        spec: { limits: [{ type: "Container", max: { cpu: max } }] },
      });
      await node.create(path, range("230m"));
      const pod = await node.run(
        loadPod({ name: "capped", namespace: namespace.name, containers }),
      );
      const name = { namespace: namespace.name, name: "capped" };
      await appliedAllocation(node, pod);
      await node.signal(name, "load");
      await whenQuota(node, name, (quota) => quota === 230, SETTLED);
      await assertAgreement(node, name);

      await node.connection.request(
        patchRequest("merge", { path: `${path}/cap`, body: range("80m") }),
      );
      const resizer = createPodResizer(node.connection);
      const error = await refusal(() =>
        resizer.resize(namespace.name, "capped", {
          metadata: { uid: pod.metadata.uid },
          spec: { containers: [{ name: "load", resources: { limits: { cpu: "240m" } } }] },
        })
      );
      assert.equal(error.status, 403);
      assert.equal(refusalReason(error), "LimitRange");
      await whenQuota(node, name, (quota) => quota <= 80, SETTLED);
      assert.equal(await refusedEvents(node, namespace.name), 0);
    }),
  "a ResourceQuota bounds the sum of raises in a namespace, without a refused write": onNode(
    async (node, namespace) => {
      await node.create(`/api/v1/namespaces/${namespace.name}/resourcequotas`, {
        metadata: { name: "sum" },
        // 100m of it stay free for one more pod of the largest original limit.
        spec: { hard: { "limits.cpu": "450m" } },
      });
      const names = ["one", "two"].map((name) => ({ namespace: namespace.name, name }));
      const pods = await Promise.all(
        names.map(({ name }) => node.run(loadPod({ name, namespace: namespace.name, containers }))),
      );
      for (const pod of pods) await appliedAllocation(node, pod);
      for (const name of names) await node.signal(name, "load");
      const sum = async (): Promise<number> => {
        const quotas = await Promise.all(names.map((name) => quotaOf(node, name)));
        return quotas.reduce((total, quota) => total + quota, 0);
      };
      await until("use of the quota", async () => await sum() > 250 || undefined, SETTLED);
      for (let i = 0; i < 50; i++) {
        assert.ok(await sum() <= 350, `the sum of limits is ${await sum()}`);
        await pause(100);
      }
      assert.equal(await refusedEvents(node, namespace.name), 0);
      const error = await refusal(() =>
        createPodResizer(node.connection).resize(namespace.name, "one", {
          metadata: { uid: pods[0]?.metadata.uid ?? "" },
          spec: { containers: [{ name: "load", resources: { limits: { cpu: "2" } } }] },
        })
      );
      assert.equal(error.status, 403);
      assert.equal(refusalReason(error), "QuotaExceeded");
    },
  ),
  "a request beyond the node is refused with the cause NodeCapacity": onNode(
    async (node, namespace) => {
      await node.run(loadPod({ name: "greedy", namespace: namespace.name, containers }));
      const error = await refusal(() =>
        node.connection.request(patchRequest("strategic", {
          path: `/api/v1/namespaces/${namespace.name}/pods/greedy/resize`,
          body: {
            spec: {
              containers: [{
                name: "load",
                resources: { requests: { cpu: "900" }, limits: { cpu: "900" } },
              }],
            },
          },
        }))
      );
      assert.equal(error.status, 403);
      assert.deepEqual(error.causes, ["NodeCapacity"]);
      assert.equal(refusalReason(error), "NodeCapacity");
    },
  ),
  "a pod reborn under its name is not touched by a patch that was meant for the dead one": onNode(
    async (node, namespace) => {
      const pod = await node.run(loadPod({ name: "other", namespace: namespace.name, containers }));
      const error = await refusal(() =>
        createPodResizer(node.connection).resize(namespace.name, "other", {
          metadata: { uid: crypto.randomUUID() },
          spec: { containers: [{ name: "load", resources: { limits: { cpu: "300m" } } }] },
        })
      );
      assert.equal(error.status, 422);
      const now = await node.pod({ namespace: namespace.name, name: "other" });
      assert.equal(now?.metadata.uid, pod.metadata.uid);
    },
  ),
  "a resize that the kubelet defers is pending with its reason, and applied when it can be": onNode(
    async (node, namespace) => {
      const label = `try-${namespace.name}`;
      const nodes = await node.connection.request({ path: "/api/v1/nodes" }) as {
        items: { metadata: { name: string } }[];
      };
      const nodeName = nodes.items[0]?.metadata.name ?? "";
      const mark = (value: string | null): Promise<unknown> =>
        node.connection.request(
          patchRequest("merge", {
            path: `/api/v1/nodes/${nodeName}`,
            body: { metadata: { labels: { [label]: value } } },
          }),
        );
      await mark("yes");
      try {
        await node.run(
          loadPod({
            name: "deferred",
            namespace: namespace.name,
            containers: [{ name: "load", request: "50m", limit: "100m", burstSeconds: 300 }],
            nodeSelector: { [label]: "yes" },
            annotations: { [MANAGED]: "false" },
          }),
        );
        const name = { namespace: namespace.name, name: "deferred" };
        await mark(null);
        // The kubelet looks at its node's labels every ten seconds.
        await pause(12_000);
        await node.connection.request(
          patchRequest("merge", {
            path: podPath(name),
            body: { metadata: { annotations: { [MANAGED]: null } } },
          }),
        );
        await whenReason(node, name, "ResizeDeferred");
        assert.equal((await node.pod(name))?.resizeConditions[0]?.reason, "Deferred");
        await mark("yes");
        // A kubelet tries deferred resizes again every three minutes, and when a pod has gone. It looks
        // at its node's labels every ten seconds only.
        const passing = { name: "passer-by", namespace: namespace.name, containers };
        await node.run(loadPod(passing));
        await pause(15_000);
        const path = `/api/v1/namespaces/${namespace.name}/pods/passer-by`;
        await node.connection.request({
          method: "DELETE",
          path,
          query: { gracePeriodSeconds: "0" },
        });
        await whenQuota(node, name, (quota) => quota > 100, { timeoutMs: 240_000, everyMs: 500 });
        await assertAgreement(node, name);
      } finally {
        await mark(null);
      }
    },
  ),
});
