/**
 * Limits follow demand: a container's own usage, and a metric that says more before there is any.
 *
 * @module
 */
import assert from "node:assert/strict";
import { serveExporter, startPrometheus } from "../prometheus/own_prometheus.ts";
import type { Pod } from "../../shared/api/pod.ts";
import { NETWORK } from "./harness/instance.ts";
import { createKubectl } from "./kubectl.ts";
import { appliedAllocation, assertAgreement, SETTLED, whenQuota } from "./scene/limits.ts";
import { loadPod } from "./scene/load_pod.ts";
import { cpuAccount, enforcedLimits, podDirectories } from "./scene/node_cgroups.ts";
import { onNode } from "./scene/real_node.ts";
import { pause, testsAtOnce, until } from "./scene/until.ts";
import { withFileSettings } from "./scene/product.ts";

const OWN = 200;
/** The metric's value for each pod, cores: twice its original limit, and little of the node. */
const CORES = 0.4;
/** On the node's address, which pods reach; nothing leaves the cluster's network namespace. */
const LISTEN = `${NETWORK.node}:9090`;
const SETTINGS = {
  // Limits that follow demand show what a metric asks for.
  market: { idleCPU: "tight", burstFactor: 4 },
  metrics: {
    prometheusURL: `http://${LISTEN}`,
    queries: { cores: 'sum(try_cores{namespace="$namespace", pod="$pod"})' },
    interval: "1s",
    staleAfter: "8s",
  },
};

const kubectl = createKubectl();

withFileSettings(SETTINGS);

testsAtOnce({
  "the market raises a throttled container, and lowers it when its own usage has fallen": onNode(
    async (node, namespace) => {
      const name = namespace.pod("one");
      const one = await node.run(loadPod({
        ...name,
        containers: [{ name: "load", request: "50m", limit: "250m", threads: 2, burstSeconds: 25 }],
      }));
      await appliedAllocation(node, one);
      const directories = podDirectories(one);
      const { throttledMs } = cpuAccount(directories);
      await node.signal(name, "load");
      await whenQuota(node, name, (quota) => quota >= 800, { timeoutMs: 25_000 });
      assert.ok(cpuAccount(directories).throttledMs > throttledMs, "it was throttled before");
      // In steps, each after half a minute of lower demand.
      await whenQuota(node, name, (quota) => quota <= 600);
      for (let i = 0; i < 50; i++) {
        assert.ok(
          (enforcedLimits(directories).containers.get("load") ?? NaN) <= 600,
          "it stays low",
        );
        await pause(100);
      }
      await assertAgreement(node, name);
    },
  ),
  "a pod with a metric that asks for more is raised while it is idle, and not without its server":
    onNode(async (node, namespace) => {
      await using exporter = serveExporter({ hostname: NETWORK.node, name: "try_cores" });
      await using prometheus = await startPrometheus({ listen: LISTEN, target: exporter.address });
      const queries = { asking: "cores", plain: undefined, lost: "core" } as const;
      const names = Object.keys(queries) as (keyof typeof queries)[];
      for (const pod of names) exporter.values.set({ namespace: namespace.name, pod }, CORES);
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
      await until("raised quota", () => isRaised("asking") || undefined, SETTLED);
      const { spec, status } = await appliedAllocation(node, podOf("asking"));
      assert.equal(spec.market?.reason, "MetricRose");
      assert.ok(Math.abs((status?.bounds?.containers[0]?.demand ?? 0) - 1000 * CORES) < 1);

      for (let i = 0; i < 20; i++) {
        assert.ok(isRaised("asking"), `${quotaOf("asking")}`);
        for (const name of ["plain", "lost"] as const) {
          assert.ok(quotaOf(name) <= OWN, `${name}: ${quotaOf(name)}`);
        }
        await pause(250);
      }
      const warnings = await kubectl.must([
        ...["get", "events", "-n", namespace.name, "--field-selector", "reason=AnnotationIgnored"],
      ]);
      assert.match(warnings, /"core" .*\bmetrics\.queries\b.*\bcores\b/);

      await prometheus.stop();
      await until("quota of an idle pod", () => quotaOf("asking") <= OWN || undefined, {
        timeoutMs: 90_000,
      });
      const { rules = [] } = (await appliedAllocation(node, podOf("asking"))).status?.bounds ?? {};
      const missing = rules.find(({ reason }) => reason === "MetricMissing");
      assert.match(missing?.message ?? "", /^query cores: /);
    }),
});
