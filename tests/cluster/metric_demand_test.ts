/**
 * A pod that names a metric gets its CPU before it uses any; without the metrics server it is as others.
 *
 * @module
 */
import assert from "node:assert/strict";
import { serveExporter } from "../prometheus/exporter.ts";
import { startPrometheus } from "../prometheus/own_prometheus.ts";
import { NETWORK } from "./harness/instance.ts";
import { createKubectl } from "./kubectl.ts";
import { appliedAllocation, SETTLED } from "./scene/agreement.ts";
import { isHarness } from "./scene/harness_access.ts";
import { loadPod } from "./scene/load_pod.ts";
import { enforcedLimits, podDirectories } from "./scene/node_cgroups.ts";
import { openRealNode } from "./scene/real_node.ts";
import { scratchNamespace } from "./scene/scratch_namespace.ts";
import { pause, until } from "./scene/until.ts";
import { withSettings } from "./scene/with_settings.ts";

const OWN = 200;
/** What the metric says of each pod, cores: twice its own limit, and little of the node. */
const CORES = 0.4;
/** On the node's address, which pods reach; nothing leaves the cluster's network namespace. */
const LISTEN = `${NETWORK.node}:9090`;
const SETTINGS = {
  metrics: {
    prometheusURL: `http://${LISTEN}`,
    queries: { cores: 'sum(try_cores{namespace="$namespace", pod="$pod"})' },
    interval: "1s",
    staleAfter: "8s",
  },
  // Loans would raise idle pods, too.
  agent: { lendUpTo: 0 },
};

const kubectl = createKubectl();

Deno.test({
  name:
    "a pod whose metric asks for more is raised while it is idle, one that names none is not, and " +
    "neither is when the metrics server is gone",
  ignore: !isHarness(),
  async fn() {
    using node = await openRealNode();
    await using exporter = serveExporter({ hostname: NETWORK.node, name: "try_cores" });
    await using prometheus = await startPrometheus({ listen: LISTEN, target: exporter.address });
    await using _settings = await withSettings(SETTINGS);
    await using namespace = await scratchNamespace(node.connection);
    const queries: Readonly<Record<string, string | undefined>> = {
      asking: "cores",
      plain: undefined,
      lost: "core",
    };
    for (const pod of Object.keys(queries)) {
      exporter.values.set({ namespace: namespace.name, pod }, CORES);
    }
    const pods = await Promise.all(
      Object.entries(queries).map(([name, query]) =>
        node.run(loadPod({
          name,
          namespace: namespace.name,
          annotations: query === undefined ? {} : { "mbcas.io/demand-query": query },
          containers: [{ name: "load", request: "50m", limit: `${OWN}m` }],
        }))
      ),
    );
    const quotas = (): readonly number[] =>
      pods.map((pod) => enforcedLimits(podDirectories(pod)).containers.get("load") ?? Infinity);
    const [asking] = pods;
    assert.ok(asking !== undefined);

    await until("raised quota", () => (quotas()[0] ?? 0) >= 1000 * CORES || undefined, SETTLED);
    const { spec, status } = await appliedAllocation(node, asking);
    assert.equal(spec.market?.reason, "MetricRose");
    assert.ok(Math.abs((status?.bounds?.containers[0]?.demand ?? 0) - 1000 * CORES) < 1);
    for (let i = 0; i < 20; i++) {
      const [raised = 0, ...others] = quotas();
      assert.ok(raised >= 1000 * CORES, `${raised}`);
      for (const quota of others) assert.ok(quota <= OWN, `${quota}`);
      await pause(250);
    }
    const warnings = await kubectl.must([
      ...["get", "events", "-n", namespace.name, "--field-selector", "reason=AnnotationIgnored"],
    ]);
    assert.match(warnings, /"core" is no query of metrics\.queries; did you mean cores\?/);

    await prometheus.stop();
    await until("quota of an idle pod", () => (quotas()[0] ?? 0) <= OWN || undefined, {
      timeoutMs: 90_000,
    });
    const [, plain] = quotas();
    assert.ok((plain ?? Infinity) <= OWN);
    const { rules = [] } = (await appliedAllocation(node, asking)).status?.bounds ?? {};
    assert.ok(rules.some(({ reason }) => reason === "MetricMissing"), JSON.stringify(rules));
  },
});
