/**
 * A pod that names a metric gets its CPU before it uses any; when its last value has become old, or
 * without the metrics server, it is as others.
 *
 * @module
 */
import assert from "node:assert/strict";
import { serveExporter } from "../prometheus/exporter.ts";
import { startPrometheus } from "../prometheus/own_prometheus.ts";
import type { Pod } from "../../shared/api/pod.ts";
import { NETWORK } from "./harness/instance.ts";
import { createKubectl } from "./kubectl.ts";
import { appliedAllocation, SETTLED } from "./scene/limits.ts";
import { loadPod } from "./scene/load_pod.ts";
import { enforcedLimits, podDirectories } from "./scene/node_cgroups.ts";
import { openRealNode, scratchNamespace } from "./scene/real_node.ts";
import { pause, until } from "./scene/until.ts";
import { withSettings } from "./scene/product.ts";

const OWN = 200;
/** What the metric says of each pod, cores: twice its original limit, and little of the node. */
const CORES = 0.4;
/** On the node's address, which pods reach; nothing leaves the cluster's network namespace. */
const LISTEN = `${NETWORK.node}:9090`;
const STALE_AFTER_S = 8;
const SETTINGS = {
  // Limits that follow demand show what a metric asks for.
  market: { idleCPU: "tight" },
  metrics: {
    prometheusURL: `http://${LISTEN}`,
    queries: { cores: 'sum(try_cores{namespace="$namespace", pod="$pod"})' },
    interval: "1s",
    staleAfter: `${STALE_AFTER_S}s`,
  },
};

const kubectl = createKubectl();

Deno.test(
  "a pod with a metric that asks for more is raised while it is idle, one that names none is not, and " +
    "neither is when its metric or the metrics server is gone",
  async () => {
    using node = await openRealNode();
    await using exporter = serveExporter({ hostname: NETWORK.node, name: "try_cores" });
    await using prometheus = await startPrometheus({ listen: LISTEN, target: exporter.address });
    await using _settings = await withSettings(SETTINGS);
    await using namespace = await scratchNamespace(node.connection);
    const queries = { asking: "cores", fading: "cores", plain: undefined, lost: "core" } as const;
    const names = Object.keys(queries) as (keyof typeof queries)[];
    const series = new Map(names.map((pod) => [pod, { namespace: namespace.name, pod }]));
    for (const labels of series.values()) exporter.values.set(labels, CORES);
    const pods = new Map(
      await Promise.all(names.map(async (name) => {
        const query = queries[name];
        const pod = await node.run(loadPod({
          name,
          namespace: namespace.name,
          annotations: query === undefined ? {} : { "mbcas.io/demand-query": query },
          containers: [{ name: "load", request: "50m", limit: `${OWN}m` }],
        }));
        return [name, pod] as const;
      })),
    );
    const podOf = (name: keyof typeof queries): Pod => pods.get(name) ?? assert.fail(name);
    const quotaOf = (name: keyof typeof queries): number =>
      enforcedLimits(podDirectories(podOf(name))).containers.get("load") ?? assert.fail(name);
    const isRaised = (name: keyof typeof queries): boolean => quotaOf(name) >= 1000 * CORES;
    const whyMissing = async (name: keyof typeof queries): Promise<string | undefined> => {
      const { rules = [] } = (await appliedAllocation(node, podOf(name))).status?.bounds ?? {};
      return rules.find(({ reason }) => reason === "MetricMissing")?.message;
    };

    const asked = ["asking", "fading"] as const;
    await until("raised quotas", () => asked.every(isRaised) || undefined, SETTLED);
    const { spec, status } = await appliedAllocation(node, podOf("asking"));
    assert.equal(spec.market?.reason, "MetricRose");
    assert.ok(Math.abs((status?.bounds?.containers[0]?.demand ?? 0) - 1000 * CORES) < 1);

    // The server goes on and answers; of one pod it has nothing new to say.
    exporter.values.delete(series.get("fading") ?? assert.fail());
    const goneAt = performance.now();
    for (let i = 0; i < 20; i++) {
      for (const name of asked) assert.ok(isRaised(name), `${name}: ${quotaOf(name)}`);
      for (const name of ["plain", "lost"] as const) {
        assert.ok(quotaOf(name) <= OWN, `${name}: ${quotaOf(name)}`);
      }
      await pause(250);
    }
    const warnings = await kubectl.must([
      ...["get", "events", "-n", namespace.name, "--field-selector", "reason=AnnotationIgnored"],
    ]);
    assert.match(warnings, /"core" .*\bmetrics\.queries\b.*\bcores\b/);

    const isOver = (name: keyof typeof queries): true | undefined =>
      quotaOf(name) <= OWN || undefined;
    await until("quota without a metric", () => isOver("fading"), { timeoutMs: 90_000 });
    // What was asked a moment before it went was answered with it.
    assert.ok(performance.now() - goneAt > 1000 * (STALE_AFTER_S - 2), "the last value counts on");
    const nothingFound = await whyMissing("fading") ?? "";
    assert.match(nothingFound, /^query cores: /);
    assert.ok(isRaised("asking"), "the other one's is there");

    await prometheus.stop();
    await until("quota of an idle pod", () => isOver("asking"), { timeoutMs: 90_000 });
    assert.ok(quotaOf("plain") <= OWN);
    const noAnswer = await whyMissing("asking") ?? "";
    assert.match(noAnswer, /^query cores: /);
    assert.notEqual(noAnswer, nothingFound, "another cause");
  },
);
