/**
 * Rightsizing on a real node: running pods get what their workload's policy recommends without a restart,
 * and nothing of a workload changes where a policy only recommends.
 *
 * @module
 */
import assert from "node:assert/strict";
import { podListWatch } from "../../adapters/kube/pods.ts";
import { parseRecommendationReport } from "../../adapters/kube/recommendation_reports.ts";
import { listOf, objectOf } from "../../adapters/kube/json_fields.ts";
import { recordsOf } from "../../shared/rightsizing/report_parts.ts";
import type { WorkloadRecord } from "../../shared/rightsizing/workload_record.ts";
import { createKubectl } from "./kubectl.ts";
import { deploymentPods } from "./scene/deployment_pods.ts";
import { isHarness } from "./scene/harness_access.ts";
import { loadDeployment } from "./scene/load_pod.ts";
import { openRealNode, type PodName, type RealNode } from "./scene/real_node.ts";
import { scratchNamespace } from "./scene/scratch_namespace.ts";
import { until } from "./scene/until.ts";
import { withRightsizing } from "./scene/with_rightsizing.ts";
import { withLiveSettings } from "./scene/with_settings.ts";

const GROUP = "/apis/optipod.io/v1alpha1";
const MI = 2 ** 20;
/** Uses some 30 m, many times its request. */
const CONTAINER = {
  name: "load",
  request: "5m",
  limit: "500m",
  memory: "64Mi",
  beat: { count: 1000, sleepMs: 100 },
} as const;
/** Sampling, cycles, and the kubelet's word on a resize. */
const CYCLES = { timeoutMs: 180_000, everyMs: 500 };

const kubectl = createKubectl();

/** A policy that looks at its own namespace, soon and often. */
function policy(namespace: string, mode: "Auto" | "Recommend"): Record<string, unknown> {
  return {
    apiVersion: "optipod.io/v1alpha1",
    kind: "OptimizationPolicy",
    metadata: { name: "all", namespace },
    spec: {
      mode,
      selector: { namespaces: { allow: [namespace] } },
      metricsConfig: { provider: "metrics-server", rollingWindow: "10m", minSamples: 3 },
      resourceBounds: {
        cpu: { min: "10m", max: "400m" },
        memory: { min: "16Mi", max: "256Mi" },
      },
      updateStrategy: { cooldown: "10s" },
      reconciliationInterval: "10s",
    },
  };
}

async function recordOf(
  { connection }: Pick<RealNode, "connection">,
  { namespace, name }: PodName,
): Promise<WorkloadRecord | undefined> {
  const path = `${GROUP}/namespaces/${namespace}/recommendationreports`;
  const { items } = objectOf(await connection.request({ path }));
  return recordsOf(listOf(items).map(parseRecommendationReport), namespace)
    .find(({ workload }) => workload.name === name);
}

async function templateOf({ namespace, name }: PodName): Promise<string> {
  return await kubectl.must([
    ...["get", `deployment/${name}`, "-n", namespace],
    ...["-o", "jsonpath={.metadata.generation} {.metadata.annotations} {.spec}"],
  ]);
}

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
      return event.object.containers[0]?.requestCPU;
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
    await using _installed = await withRightsizing(kubectl, ["rightsizing", "webhook"]);
    await using _settings = await withLiveSettings({ rightsizing: { samplerInterval: "5s" } });
    await using acted = await scratchNamespace(node.connection);
    await using told = await scratchNamespace(node.connection);
    const web = { namespace: acted.name, name: "web" };
    const same = { namespace: told.name, name: "web" };
    for (const { namespace, name } of [web, same]) {
      await kubectl.must(
        ["apply", "-f", "-"],
        loadDeployment({ name, namespace, containers: [CONTAINER] }),
      );
    }
    const pod = await until("pod of the Deployment", async () => {
      const [first] = await deploymentPods(node, web);
      return first?.ready ? first : undefined;
    }, CYCLES);
    const before = await templateOf(web);
    const beforeSame = await templateOf(same);
    await kubectl.must(["apply", "-f", "-"], policy(web.namespace, "Auto"));
    await kubectl.must(["apply", "-f", "-"], policy(same.namespace, "Recommend"));

    const record = await until("applied recommendation", async () => {
      const found = await recordOf(node, web);
      return found?.appliedAtMs === undefined ? undefined : found;
    }, CYCLES);
    const [inForce] = record.inForce;
    assert.equal(record.method, "InPlace");
    assert.ok((inForce?.cpu ?? 0) >= 10, `${inForce?.cpu}`);
    const resized = await until("resized pod", async () => {
      const [first] = await deploymentPods(node, web);
      const [container] = first?.containers ?? [];
      const isThere = container?.appliedRequestCPU === container?.requestCPU &&
        container?.requestCPU !== 5;
      return isThere ? first : undefined;
    }, CYCLES);
    const [container] = resized.containers;
    assert.equal(resized.metadata.uid, pod.metadata.uid);
    assert.equal(container?.containerID, pod.containers[0]?.containerID, "not restarted");
    assert.equal(container?.limitMemory, 64 * MI, "requests only");
    // Idle memory is far below the least that the policy allows.
    assert.equal(container?.requestMemory, 16 * MI);

    // A pod that comes later is made with them: the first that the watch shows of it.
    const first = firstRequest(node, web, { but: pod.metadata.name });
    await kubectl.must(["scale", "deployment/web", "-n", web.namespace, "--replicas=2"]);
    const made = await first;
    const values = (await recordOf(node, web))?.inForce[0];
    assert.ok(made === inForce?.cpu || made === values?.cpu, `${made}, ${values?.cpu} in force`);
    const scaled = await templateOf(web);
    assert.equal(
      scaled.replace(/^\d+ /, "").replace(/"replicas":\d+/, ""),
      before.replace(/^\d+ /, "").replace(/"replicas":\d+/, ""),
    );

    const recommended = await until("recommendation", async () => {
      const found = await recordOf(node, same);
      return found?.status === "Recommended" ? found : undefined;
    }, CYCLES);
    assert.deepEqual(recommended.inForce, []);
    assert.ok((recommended.recommendations[0]?.cpu ?? 0) >= 10);
    const [untouched] = await deploymentPods(node, same);
    assert.equal(untouched?.containers[0]?.requestCPU, 5);
    assert.equal(await templateOf(same), beforeSame);
    const diff = await kubectl.run(
      ["diff", "-f", "-"],
      loadDeployment({ name: "web", namespace: same.namespace, containers: [CONTAINER] }),
    );
    assert.deepEqual(diff, { ok: true, stdout: "", stderr: "" });
  },
});
