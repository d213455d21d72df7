/**
 * Scheduler and cluster autoscalers look at requests, at pods that find no node, and at nodes: none of
 * that changes when the market changes limits.
 *
 * @module
 */
import { patchRequest } from "../../adapters/kube/client/connection.ts";
import assert from "node:assert/strict";
import { listOf, objectOf } from "../../adapters/kube/client/json_fields.ts";
import { createKubectl } from "./kubectl.ts";
import { eventsOf } from "./scene/reported.ts";
import { thePod, whenQuota } from "./scene/limits.ts";
import { loadPod } from "./scene/load_pod.ts";
import { onNode, type PodName, type RealNode } from "./scene/real_node.ts";

const OWN = 50;
const kubectl = createKubectl();

/** What an autoscaler reads. */
interface View {
  /** Requests that `kubectl describe node` sums up, for instance `["cpu", "70m"]`. */
  readonly allocated: readonly unknown[];
  /** Specs, labels, annotations and capacities of the nodes. */
  readonly nodes: readonly unknown[];
  /** Requests of the namespace's pods, and where they run. */
  readonly pods: readonly unknown[];
  /** How many pods of the cluster wait for a node. */
  readonly pending: number;
  /** Events of schedulers and autoscalers about the namespace's pods. */
  readonly scheduling: readonly string[];
}

/** Not what other tests have left without a scheduler, and is being removed. */
function awaitsNode(pod: unknown): boolean {
  const { metadata, spec } = objectOf(pod);
  return objectOf(spec).schedulerName === "default-scheduler" &&
    objectOf(metadata).deletionTimestamp === undefined;
}

async function viewOf(node: RealNode, { namespace }: Pick<PodName, "namespace">): Promise<View> {
  const [nodes, pods, all] = await Promise.all([
    node.connection.request({ path: "/api/v1/nodes" }),
    node.connection.request({ path: `/api/v1/namespaces/${namespace}/pods` }),
    node.connection.request({
      path: "/api/v1/pods",
      query: { fieldSelector: "status.phase=Pending" },
    }),
  ]);
  const [name] = listOf(objectOf(nodes).items).map((one) => objectOf(objectOf(one).metadata).name);
  const described = await kubectl.must(["describe", "node", String(name)]);
  const [, table = ""] = described.split("Allocated resources:");
  const events = await eventsOf(node, { namespace });
  return {
    allocated: [...table.matchAll(/^ {2}(cpu|memory) +(\S+) \(/gm)].map(([, ...pair]) => pair),
    nodes: listOf(objectOf(nodes).items).map(objectOf).map(({ metadata, spec, status }) => {
      const { labels, annotations } = objectOf(metadata);
      const { capacity, allocatable } = objectOf(status);
      return { labels, annotations, spec, capacity, allocatable };
    }),
    pods: listOf(objectOf(pods).items).map(objectOf).map(({ metadata, spec }) => ({
      name: objectOf(metadata).name,
      nodeName: objectOf(spec).nodeName,
      requests: listOf(objectOf(spec).containers).map((container) =>
        objectOf(objectOf(container).resources).requests
      ),
    })),
    pending: listOf(objectOf(all).items).filter(awaitsNode).length,
    scheduling: events.filter(({ by, reason }) =>
      /scheduler|autoscaler|karpenter/i.test(by) || /Scale|Schedul|Nominat/.test(reason)
    ).map(({ reason, message }) => `${reason}: ${message}`),
  };
}

Deno.test(
  "limits go up and down, and nothing changes that a scheduler or cluster autoscaler looks at",
  onNode(async (node, namespace) => {
    const name = { namespace: namespace.name, name: "web" };
    await node.run(loadPod({
      ...name,
      containers: [{ name: "load", request: "10m", limit: `${OWN}m`, burstSeconds: 12 }],
    }));
    const before = await viewOf(node, name);
    assert.deepEqual(before.allocated.map((row) => listOf(row)[0]), ["cpu", "memory"]);
    assert.equal(before.scheduling.length, 1, before.scheduling.join());
    await node.signal(name, "load");
    const raised = await whenQuota(node, name, (quota) => quota > OWN);
    assert.ok((await thePod(node, name)).containers[0]?.limits.cpu !== OWN);
    assert.deepEqual(await viewOf(node, name), before);
    await node.connection.request(
      patchRequest("merge", {
        path: `/api/v1/namespaces/${name.namespace}/pods/${name.name}`,
        body: { metadata: { labels: { "mbcas.io/managed": "false" } } },
      }),
    );
    assert.ok(await whenQuota(node, name, (quota) => quota === OWN) < raised);
    assert.deepEqual(await viewOf(node, name), before);

    // What would be seen: a request that changes.
    const requests = { containers: [{ name: "load", resources: { requests: { cpu: "20m" } } }] };
    await kubectl.must([
      ...["patch", "pod", name.name, "-n", name.namespace, "--subresource=resize"],
      ...["-p", JSON.stringify({ spec: requests })],
    ]);
    const changed = await viewOf(node, name);
    assert.notDeepEqual(changed.allocated, before.allocated);
    assert.notDeepEqual(changed.pods, before.pods);
  }),
);
