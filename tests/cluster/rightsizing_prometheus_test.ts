/**
 * Rightsizing from what a real Prometheus collects of the real kubelet's cAdvisor; without the server
 * nothing changes, and when it is back the work goes on.
 *
 * @module
 */
import assert from "node:assert/strict";
import { listOf, objectOf } from "../../adapters/kube/client/json_fields.ts";
import { startPrometheus } from "../prometheus/own_prometheus.ts";
import { NETWORK } from "./harness/instance.ts";
import { createKubectl } from "./kubectl.ts";
import { requestToken } from "./scene/account_token.ts";
import { PROMETHEUS_ADDRESS, withAllComponents } from "./scene/all_components.ts";
import { deploymentPods, readyPod } from "./scene/limits.ts";
import { loadDeployment } from "./scene/load_pod.ts";
import {
  CYCLES,
  deploymentText,
  optimizationPolicy,
  UNDERSIZED,
  whenRecord,
} from "./scene/optimization_policies.ts";
import {
  openRealNode,
  type PodName,
  type RealNode,
  type ScratchNamespace,
  scratchNamespace,
} from "./scene/real_node.ts";
import { pause, until } from "./scene/until.ts";

/** Three cycles and more. */
const QUIET_MS = 35_000;
const ACCOUNT = "collector";

const kubectl = createKubectl();

/** An account that may read the kubelet's metrics, and a job with its token. */
async function kubeletJob(
  node: RealNode,
  { name: namespace }: ScratchNamespace,
): Promise<AsyncDisposable & { readonly job: Record<string, unknown> }> {
  const role = `try-${namespace}`;
  const rbac = { apiVersion: "rbac.authorization.k8s.io/v1", metadata: { name: role } };
  const list = {
    apiVersion: "v1",
    kind: "List",
    items: [
      { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: ACCOUNT, namespace } },
      {
        ...rbac,
        kind: "ClusterRole",
        rules: [{ apiGroups: [""], resources: ["nodes/metrics"], verbs: ["get"] }],
      },
      {
        ...rbac,
        kind: "ClusterRoleBinding",
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: role },
        subjects: [{ kind: "ServiceAccount", name: ACCOUNT, namespace }],
      },
    ],
  };
  await kubectl.must(["apply", "-f", "-"], list);
  const credentials = await requestToken(node.connection, { namespace, account: ACCOUNT });
  return {
    job: {
      scheme: "https",
      metrics_path: "/metrics/cadvisor",
      scrape_interval: "2s",
      scrape_timeout: "2s",
      authorization: { credentials },
      // The kubelet's certificate is its own.
      tls_config: { insecure_skip_verify: true },
    },
    [Symbol.asyncDispose]: async () => void await kubectl.must(["delete", "-f", "-"], list),
  };
}

interface Condition {
  readonly status: string;
  readonly reason: string;
}

async function readyOf(node: RealNode, { namespace, name }: PodName): Promise<Condition> {
  const path = `/apis/optipod.io/v1alpha1/namespaces/${namespace}/optimizationpolicies/${name}`;
  const { status } = objectOf(await node.connection.request({ path }));
  const conditions = listOf(objectOf(status).conditions).map(objectOf);
  const { status: value, reason } = conditions.find(({ type }) => type === "Ready") ?? {};
  return { status: String(value), reason: String(reason) };
}

Deno.test("a policy asks Prometheus of what cAdvisor saw, and while Prometheus is gone it changes nothing and says so", async () => {
  using node = await openRealNode();
  await using _installed = await withAllComponents(kubectl);
  await using namespace = await scratchNamespace(node.connection);
  await using kubelet = await kubeletJob(node, namespace);
  const options = {
    listen: PROMETHEUS_ADDRESS,
    target: `${NETWORK.node}:10250`,
    job: kubelet.job,
  };
  await using prometheus = await startPrometheus(options);
  const workload = (name: string): PodName => ({ namespace: namespace.name, name });
  const deploy = async (name: string): Promise<string> => {
    await kubectl.must(
      ["apply", "-f", "-"],
      loadDeployment({ ...workload(name), containers: [UNDERSIZED] }),
    );
    const pod = await readyPod(node, workload(name), CYCLES);
    return `${pod.metadata.uid} ${pod.containers[0]?.containerID}`;
  };
  const requests = async (name: string): Promise<string> => {
    const [pod] = await deploymentPods(node, workload(name));
    const [
      { requests: { cpu: requestCPU, memory: requestMemory }, containerID } = assert.fail(name),
    ] = pod?.containers ??
      [];
    return `${pod?.metadata.uid} ${containerID} ${requestCPU} ${requestMemory}`;
  };
  const first = await deploy("first");
  await kubectl.must(
    ["apply", "-f", "-"],
    optimizationPolicy({
      mode: "Auto",
      namespace: namespace.name,
      provider: "prometheus",
      // One change within the test: whatever comes after is not the cycle's.
      strategy: { cooldown: "1h" },
    }),
  );
  const record = await whenRecord(
    node,
    workload("first"),
    ({ appliedAtMs }) => appliedAtMs !== undefined,
  );
  assert.equal(record.method, "InPlace");
  assert.match(record.recommendations[0]?.explanation ?? "", /samples/);
  assert.deepEqual(await readyOf(node, workload("all")), {
    status: "True",
    reason: "PolicyValid",
  });

  await prometheus.stop();
  await until("report of the missing server", async () => {
    const { status, reason } = await readyOf(node, workload("all"));
    return status === "False" && reason === "ProviderUnavailable" ? true : undefined;
  }, CYCLES);
  // One that it would have to raise, and has never seen.
  await deploy("second");
  const held = [await requests("first"), await requests("second")];
  const texts = [
    await deploymentText(kubectl, workload("first")),
    await deploymentText(kubectl, workload("second")),
  ];
  await pause(QUIET_MS);
  assert.deepEqual([await requests("first"), await requests("second")], held);
  assert.deepEqual([
    await deploymentText(kubectl, workload("first")),
    await deploymentText(kubectl, workload("second")),
  ], texts);
  assert.ok(held[0]?.startsWith(first), `${held[0]}: another pod or container than ${first}`);
  const lost = await whenRecord(
    node,
    workload("second"),
    ({ reason }) => reason === "ProviderUnavailable",
  );
  assert.deepEqual([lost.status, lost.inForce], ["Skipped", []]);

  await using _again = await startPrometheus(options);
  await whenRecord(node, workload("second"), ({ appliedAtMs }) => appliedAtMs !== undefined);
  assert.deepEqual(await readyOf(node, workload("all")), {
    status: "True",
    reason: "PolicyValid",
  });
});
