/**
 * Rightsizing on a real node: running pods get what their workload's policy recommends without a
 * restart, and nothing of a workload changes where a policy only recommends.
 *
 * @module
 */
import assert from "node:assert/strict";
import { podListWatch } from "../../adapters/kube/kinds/pods.ts";
import { createKubectl } from "./kubectl.ts";
import { withAllComponents } from "./scene/all_components.ts";
import { deploymentPods, readyPod } from "./scene/limits.ts";
import { isHarness } from "./scene/harness_access.ts";
import { loadDeployment } from "./scene/load_pod.ts";
import {
  CYCLES,
  deploymentText,
  optimizationPolicy,
  recordOf,
  UNDERSIZED,
  whenRecord,
} from "./scene/optimization_policies.ts";
import { openRealNode, type PodName, type RealNode, scratchNamespace } from "./scene/real_node.ts";
import { until } from "./scene/until.ts";

const MI = 2 ** 20;

const kubectl = createKubectl();

/** The CPU request, m, with which another pod of the Deployment is stored first. */
async function firstRequest(
  { connection }: Pick<RealNode, "connection">,
  { namespace, name }: PodName,
  { but }: { readonly but: string },
): Promise<number | undefined> {
  const source = podListWatch(connection, { namespace, labelSelector: `app=${name}` });
  const end = AbortSignal.timeout(CYCLES.timeoutMs);
  const { resourceVersion } = await source.list(end);
  for await (const event of source.watch(resourceVersion, end)) {
    if (event.type === "ADDED" && event.object.metadata.name !== but) {
      return event.object.containers[0]?.requests.cpu;
    }
  }
  return undefined;
}

Deno.test({
  name:
    "a policy in mode Auto moves the requests of running pods in place and of new ones as they are made, one in " +
    "mode Recommend moves none",
  ignore: !isHarness(),
  async fn() {
    using node = await openRealNode();
    await using _installed = await withAllComponents(kubectl);
    await using acted = await scratchNamespace(node.connection);
    await using reported = await scratchNamespace(node.connection);
    const web = { namespace: acted.name, name: "web" };
    const same = { namespace: reported.name, name: "web" };
    for (const { namespace, name } of [web, same]) {
      await kubectl.must(
        ["apply", "-f", "-"],
        loadDeployment({ name, namespace, containers: [UNDERSIZED] }),
      );
    }
    const pod = await readyPod(node, web, CYCLES);
    const before = await deploymentText(kubectl, web);
    const beforeSame = await deploymentText(kubectl, same);
    for (const [mode, { namespace }] of [["Auto", web], ["Recommend", same]] as const) {
      await kubectl.must(["apply", "-f", "-"], optimizationPolicy({ mode, namespace }));
    }

    const record = await whenRecord(node, web, ({ appliedAtMs }) => appliedAtMs !== undefined);
    const [inForce] = record.inForce;
    assert.equal(record.method, "InPlace");
    assert.ok((inForce?.cpu ?? 0) >= 10, `${inForce?.cpu}`);
    const resized = await until("resized pod", async () => {
      const [first] = await deploymentPods(node, web);
      const [container] = first?.containers ?? [];
      const isThere = container?.applied.requests.cpu === container?.requests.cpu &&
        container?.requests.cpu !== 5;
      return isThere ? first : undefined;
    }, CYCLES);
    const [container] = resized.containers;
    assert.equal(resized.metadata.uid, pod.metadata.uid);
    assert.equal(container?.containerID, pod.containers[0]?.containerID, "not restarted");
    assert.equal(container?.limits.memory, 64 * MI, "requests only");
    // Idle memory is far below the least that the policy allows.
    assert.equal(container?.requests.memory, 16 * MI);

    // A pod that comes later is made with them: the first that the watch shows of it.
    // Its values are those in force before, or after it was made: no two changes are so close.
    const cpuInForce = async (): Promise<number | undefined> =>
      (await recordOf(node, web))?.inForce[0]?.cpu;
    const cpuBefore = await cpuInForce();
    const first = firstRequest(node, web, { but: pod.metadata.name });
    await kubectl.must(["scale", "deployment/web", "-n", web.namespace, "--replicas=2"]);
    const made = await first;
    const cpuAfter = await cpuInForce();
    assert.ok(made === cpuBefore || made === cpuAfter, `${made} of ${cpuBefore}, ${cpuAfter}`);
    const scaled = await deploymentText(kubectl, web);
    assert.equal(
      scaled.replace(/^\d+ /, "").replace(/"replicas":\d+/, ""),
      before.replace(/^\d+ /, "").replace(/"replicas":\d+/, ""),
    );

    const recommended = await whenRecord(node, same, ({ status }) => status === "Recommended");
    assert.deepEqual(recommended.inForce, []);
    assert.ok((recommended.recommendations[0]?.cpu ?? 0) >= 10);
    const [untouched] = await deploymentPods(node, same);
    assert.equal(untouched?.containers[0]?.requests.cpu, 5);
    assert.equal(await deploymentText(kubectl, same), beforeSame);
    const diff = await kubectl.run(
      ["diff", "-f", "-"],
      loadDeployment({ name: "web", namespace: same.namespace, containers: [UNDERSIZED] }),
    );
    assert.deepEqual(diff, { ok: true, stdout: "", stderr: "" });
  },
});
