/**
 * Objects that stay as they are while the market acts: requests, places and nodes, at which schedulers
 * and cluster autoscalers look; templates, which GitOps compares; and budgets of disruptions, of which
 * an in-place change uses up none. Each comparison is shown to see what it would find.
 */
import assert from "node:assert/strict";
import { listOf, objectOf } from "../../adapters/kube/client/json_fields.ts";
import type { Pod } from "../../shared/api/pod.ts";
import { createKubectl } from "./kubectl.ts";
import { appliedAllocation, readyPod, SETTLED, thePod, whenQuota } from "./scene/limits.ts";
import { loadDeployment } from "./scene/load_pod.ts";
import { eventsOf, onNode, type PodName, type RealNode } from "./scene/real_node.ts";
import { until } from "./scene/until.ts";

const OWN = 50;
const kubectl = createKubectl();

/** Not what other tests have left without a scheduler, and is being removed. */
function awaitsNode(pod: unknown): boolean {
  const { metadata, spec } = objectOf(pod);
  return objectOf(spec).schedulerName === "default-scheduler" &&
    objectOf(metadata).deletionTimestamp === undefined;
}

/**
 * Data that schedulers and autoscalers read: requests that `kubectl describe node` sums up, nodes, the
 * namespace's pods with requests and places, how many pods of the cluster wait, and events.
 */
async function viewOf(node: RealNode, namespace: string) {
  const nodes = await node.items("/api/v1/nodes");
  const described = await kubectl.must([
    ...["describe", "node", String(objectOf(nodes[0]?.metadata).name)],
  ]);
  const [, table = ""] = described.split("Allocated resources:");
  const pods = await node.items(`/api/v1/namespaces/${namespace}/pods`);
  const pending = await node.items("/api/v1/pods", { fieldSelector: "status.phase=Pending" });
  const events = await eventsOf(node, { namespace });
  return {
    allocated: [...table.matchAll(/^ {2}(cpu|memory) +(\S+) \(/gm)].map(([, ...pair]) => pair),
    nodes: nodes.map(({ metadata, spec, status }) => {
      const { labels, annotations } = objectOf(metadata);
      const { capacity, allocatable } = objectOf(status);
      return { labels, annotations, spec, capacity, allocatable };
    }),
    pods: pods.map(({ metadata, spec }) => ({
      name: objectOf(metadata).name,
      nodeName: objectOf(spec).nodeName,
      requests: listOf(objectOf(spec).containers).map((container) =>
        objectOf(objectOf(container).resources).requests
      ),
    })),
    pending: pending.filter(awaitsNode).length,
    scheduling: events.filter(({ by, reason }) =>
      /scheduler|autoscaler|karpenter/i.test(by) || /Scale|Schedul|Nominat/.test(reason)
    ).map(({ reason, message }) => `${reason}: ${message}`),
  };
}

/** Throws the server's refusal of an eviction, which is only tried. */
async function tryEviction({ connection }: RealNode, { namespace, name }: PodName): Promise<void> {
  await connection.request({
    method: "POST",
    path: `/api/v1/namespaces/${namespace}/pods/${name}/eviction`,
    query: { dryRun: "All" },
    body: { apiVersion: "policy/v1", kind: "Eviction", metadata: { namespace, name } },
  });
}

Deno.test(
  "limits go up and down, and nothing changes that a scheduler, a cluster autoscaler, GitOps or a PodDisruptionBudget looks at",
  onNode(async (node, { name: namespace }) => {
    const manifest = (name: string, limit: number): Record<string, unknown> =>
      loadDeployment({
        ...{ name, namespace },
        containers: [{ name: "load", request: "10m", limit: `${limit}m`, burstSeconds: 12 }],
      });
    const budgets = `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`;
    await node.create(budgets, {
      metadata: { name: "none" },
      spec: { maxUnavailable: 0, selector: { matchLabels: { app: "web" } } },
    });
    const budget = async (): Promise<Record<string, unknown>> =>
      objectOf(objectOf(await node.connection.request({ path: `${budgets}/none` })).status);
    const deploy = async (name: string): Promise<Pod> => {
      await kubectl.must(["apply", "-f", "-"], manifest(name, OWN));
      return await readyPod(node, { namespace, name });
    };
    // One under the budget, and one beside it.
    const [web, free] = [await deploy("web"), await deploy("free")];
    await until("budget that counts the pod", async () => {
      return (await budget()).expectedPods === 1 || undefined;
    }, SETTLED);
    await tryEviction(node, free.metadata);
    await assert.rejects(tryEviction(node, web.metadata), { status: 429 });
    const template = (): Promise<string> =>
      kubectl.must([
        ...["get", "deployment/web", "-n", namespace],
        ...["-o", "jsonpath={.metadata.generation} {.spec.template}"],
      ]);
    const [before, templateBefore] = [await viewOf(node, namespace), await template()];
    assert.deepEqual(before.allocated.map(([resource]) => resource), ["cpu", "memory"]);
    assert.equal(before.scheduling.length, 2, before.scheduling.join());

    await Promise.all([web, free].map(async (pod) => {
      await appliedAllocation(node, pod);
      await node.signal(pod.metadata, "load");
      await whenQuota(node, pod.metadata, (quota) => quota > OWN);
    }));
    const { metadata, containers: [container] } = await thePod(node, web.metadata);
    const raised = container?.limits.cpu ?? 0;
    assert.ok(raised > OWN, "the pod's own spec says what is enforced");
    assert.deepEqual([metadata.uid, container?.containerID], [
      web.metadata.uid,
      web.containers[0]?.containerID,
    ]);
    assert.deepEqual(await viewOf(node, namespace), before);
    assert.equal((await budget()).disruptionsAllowed, 0);
    const diff = (limit: number) => kubectl.run(["diff", "-f", "-"], manifest("web", limit));
    assert.deepEqual(await diff(OWN), { ok: true, stdout: "", stderr: "" });
    assert.equal(await template(), templateBefore);
    // The event comes once the kubelet has confirmed what the kernel shows already.
    const reasons = await until("event of the raise", async () => {
      const reported = (await eventsOf(node, web.metadata)).map(({ reason }) => reason);
      return reported.includes("CPULimitApplied") ? reported : undefined;
    }, SETTLED);
    const ended = ["Killing", "Evicted", "Preempted"].filter((reason) => reasons.includes(reason));
    assert.deepEqual(ended, []);

    const path = `/api/v1/namespaces/${namespace}/pods/${web.metadata.name}`;
    const body = { metadata: { labels: { "mbcas.io/managed": "false" } } };
    await node.merge(path, body);
    await whenQuota(node, web.metadata, (quota) => quota === OWN);
    assert.deepEqual(await viewOf(node, namespace), before);

    // Both comparisons find changes: another limit in the manifest, and another request of the pod.
    const drifted = await diff(raised);
    assert.equal(drifted.ok, false);
    assert.match(drifted.stdout, new RegExp(`^\\+.*cpu: ${raised}m`, "m"));
    const requests = { containers: [{ name: "load", resources: { requests: { cpu: "20m" } } }] };
    await kubectl.must([
      ...["patch", "pod", web.metadata.name, "-n", namespace, "--subresource=resize"],
      ...["-p", JSON.stringify({ spec: requests })],
    ]);
    const changed = await viewOf(node, namespace);
    assert.notDeepEqual(changed.allocated, before.allocated);
    assert.notDeepEqual(changed.pods, before.pods);
  }),
);
