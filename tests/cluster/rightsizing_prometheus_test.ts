/** Rightsizing from what a real Prometheus collects of the real kubelet's cAdvisor. */
import assert from "node:assert/strict";
import { listOf, objectOf } from "../../adapters/kube/client/json_fields.ts";
import { startPrometheus } from "../prometheus/own_prometheus.ts";
import { NETWORK } from "./harness/instance.ts";
import { createKubectl } from "./kubectl.ts";
import { clusterInstance } from "./scene/harness_access.ts";
import { openRealNode, type PodName, type RealNode, scratchNamespace } from "./scene/real_node.ts";
import { PROMETHEUS_ADDRESS, withAllComponents } from "./scene/all_components.ts";
import { readyPod } from "./scene/limits.ts";
import { loadDeployment } from "./scene/load_pod.ts";
import {
  CYCLES,
  optimizationPolicy,
  UNDERSIZED,
  whenRecord,
} from "./scene/optimization_policies.ts";
import { until } from "./scene/until.ts";

const kubectl = createKubectl();

/** A job for the kubelet's cAdvisor, as the cluster's administrator. */
function kubeletJob(): Record<string, unknown> {
  const { directory } = clusterInstance();
  return {
    scheme: "https",
    metrics_path: "/metrics/cadvisor",
    scrape_interval: "2s",
    scrape_timeout: "2s",
    tls_config: {
      cert_file: `${directory}/pki/admin.crt`,
      key_file: `${directory}/pki/admin.key`,
      // The kubelet's certificate is its own.
      insecure_skip_verify: true,
    },
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

Deno.test("a policy asks Prometheus of what cAdvisor saw, and says so while Prometheus is gone", async () => {
  using node = await openRealNode();
  await using _installed = await withAllComponents(kubectl);
  await using namespace = await scratchNamespace(node.connection);
  await using prometheus = await startPrometheus({
    listen: PROMETHEUS_ADDRESS,
    target: `${NETWORK.node}:10250`,
    job: kubeletJob(),
  });
  const web = namespace.pod("web");
  await node.deploy(loadDeployment({ ...web, containers: [UNDERSIZED] }));
  await readyPod(node, web, CYCLES);
  const policy = optimizationPolicy({
    mode: "Auto",
    namespace: namespace.name,
    provider: "prometheus",
  });
  await kubectl.must(["apply", "-f", "-"], policy);
  const record = await whenRecord(node, web, ({ appliedAtMs }) => appliedAtMs !== undefined);
  assert.equal(record.method, "InPlace");
  assert.match(record.recommendations[0]?.explanation ?? "", /samples/);
  const ready = () => readyOf(node, namespace.pod("all"));
  assert.deepEqual(await ready(), { status: "True", reason: "PolicyValid" });

  await prometheus.stop();
  await until("report of the missing server", async () => {
    assert.deepEqual(await ready(), { status: "False", reason: "ProviderUnavailable" });
    return true;
  }, CYCLES);
});
