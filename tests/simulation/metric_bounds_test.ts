/** Costs and reports of a metric: writes of bounds, events, and a change of leaders. */
import assert from "node:assert/strict";
import type { MarketConfig } from "../../controller/config.ts";
import type { MetricsConfig } from "../../controller/metrics_demand/metric_question.ts";
import { DEMAND_QUERY } from "../../shared/api/market_keys.ts";
import { readQueryTemplate } from "../../controller/metrics_demand/query_template.ts";
import type { Bounds } from "../../shared/api/pod_allocation.ts";
import { assertMatches } from "../fixtures/assert_matches.ts";
import { type ControllerScene, sceneTest } from "./controller_scene.ts";

const MINUTE_MS = 60_000;
const QUERY = 'jobs{pod="web"}';

function metricsOf(server: string | null): MetricsConfig {
  const template = readQueryTemplate('jobs{pod="$pod"}');
  assert.ok("parts" in template);
  const queries = new Map([["jobs", template]]);
  return { server, queries, intervalMs: 15_000, staleAfterMs: 120_000 };
}

const METRICS = metricsOf("http://prometheus.monitoring:9090");

/** Pod `web`, which names this query. */
async function naming(scene: ControllerScene, query: string): Promise<void> {
  scene.createPod("web");
  scene.changePod("web", (pod) => ({
    ...pod,
    metadata: { ...pod.metadata, annotations: { [DEMAND_QUERY]: query } },
  }));
  scene.want("web", 300);
  await scene.pass(MINUTE_MS);
}

function boundsOf(scene: ControllerScene): Bounds {
  const { bounds } = scene.allocation("web")?.status ?? {};
  assert.ok(bounds !== undefined);
  return bounds;
}

function demandOf(scene: ControllerScene): number | undefined {
  return boundsOf(scene).containers[0]?.demand;
}

function eventsOf({ api }: ControllerScene, kind: string): readonly string[] {
  return api.events.all().filter(({ reason }) => reason === kind).map(({ message }) => message);
}

function writes({ api }: ControllerScene): number {
  return api.requests.get("updateStatus PodAllocation") ?? 0;
}

sceneTest(
  "runAllocationLoop() writes a metric's demand once while it moves by less than a tenth",
  async (scene) => {
    scene.metrics.results.set(QUERY, [0.5]);
    scene.startController({ metrics: METRICS });
    await naming(scene, "jobs");
    assert.equal(demandOf(scene), 500);
    const before = writes(scene);
    for (let minute = 0; minute < 10; minute++) {
      scene.metrics.results.set(QUERY, [0.5 + 0.049 * (minute % 2)]);
      await scene.pass(MINUTE_MS);
    }
    assert.deepEqual([writes(scene) - before, demandOf(scene)], [0, 500]);
    scene.metrics.results.set(QUERY, [0.6]);
    await scene.pass(20_000);
    assert.equal(demandOf(scene), 600, "a move is published at the next answer");
    assertMatches(eventsOf(scene, "CPULimitBounded"), [
      /^MetricDemand: app .* 500m: query jobs .* 0\.5 cores /,
    ]);
    assert.deepEqual(eventsOf(scene, "AnnotationIgnored"), []);
  },
);

sceneTest(
  "runAllocationLoop() drops a stale demand when its time is over, and says why without an event",
  async (scene) => {
    scene.metrics.results.set(QUERY, [0.5]);
    scene.startController({ metrics: METRICS });
    await naming(scene, "jobs");
    scene.metrics.up = false;
    await scene.pass(105_000);
    assert.equal(demandOf(scene), 500);
    await scene.pass(20_000);
    const { rules = [] } = boundsOf(scene);
    assert.equal(demandOf(scene), undefined);
    assert.ok(
      rules.some(({ reason, message }) =>
        reason === "MetricMissing" && /^query jobs: connection/.test(message)
      ),
    );
    const before = writes(scene);
    await scene.pass(10 * MINUTE_MS);
    assert.equal(writes(scene), before, "an outage that lasts costs nothing");
    assert.equal(eventsOf(scene, "CPULimitBounded").length, 1);
    assert.deepEqual(eventsOf(scene, "AnnotationIgnored"), []);
  },
);

sceneTest(
  "runAllocationLoop() reports a pod's user of a query that does not exist, or says nonsense",
  async (scene) => {
    scene.metrics.results.set(QUERY, [1, 2]);
    scene.startController({ metrics: METRICS });
    await naming(scene, "job");
    assertMatches(eventsOf(scene, "AnnotationIgnored"), [/demand-query: "job" .* jobs\?$/]);
    assert.ok(!boundsOf(scene).reason.includes("Metric"));
    // Events of a kind are at least five minutes apart.
    await scene.pass(10 * MINUTE_MS);
    scene.changePod("web", (pod) => ({
      ...pod,
      metadata: { ...pod.metadata, annotations: { [DEMAND_QUERY]: "jobs" } },
    }));
    await scene.pass(10 * MINUTE_MS);
    assert.match(boundsOf(scene).reason, /MetricMissing/);
    assert.equal(demandOf(scene), undefined);
    scene.metrics.results.set(QUERY, { refused: "bad_data: parse error" });
    await scene.pass(10 * MINUTE_MS);
    const [, several, refused, ...more] = eventsOf(scene, "AnnotationIgnored");
    assert.match(several ?? "", /^query jobs: .* several /);
    assert.equal(refused, "query jobs: bad_data: parse error");
    assert.deepEqual(more, []);
  },
);

sceneTest(
  "runAllocationLoop() follows a change of the metrics' settings at once",
  async (scene) => {
    scene.metrics.results.set(QUERY, [0.5]);
    const config: { -readonly [K in keyof MarketConfig]?: MarketConfig[K] } = {
      metrics: metricsOf(null),
    };
    const reported = new Set<() => void>();
    scene.startController(config, {
      onConfigChange: (changed) => {
        reported.add(changed);
        return () => void reported.delete(changed);
      },
    });
    await naming(scene, "jobs");
    assertMatches(eventsOf(scene, "AnnotationIgnored"), [/"jobs": .*metrics\.prometheusURL/]);
    assert.deepEqual([demandOf(scene), scene.metrics.asked], [undefined, []]);
    config.metrics = METRICS;
    for (const changed of reported) changed();
    await scene.pass(1000);
    assert.equal(demandOf(scene), 500);
    config.metrics = metricsOf(null);
    for (const changed of reported) changed();
    await scene.pass(1000);
    assert.equal(demandOf(scene), undefined, "without an address nothing counts that was said");
  },
);

sceneTest(
  "runAllocationLoop() changes no bounds when another controller takes over",
  async (scene) => {
    scene.metrics.results.set(QUERY, [0.5]);
    const stop = scene.startController({ metrics: METRICS });
    await naming(scene, "jobs");
    const { revision } = boundsOf(scene);
    stop();
    scene.metrics.up = false;
    await scene.pass(10_000);
    scene.startController({ metrics: METRICS });
    await scene.pass(60_000);
    assert.deepEqual([boundsOf(scene).revision, demandOf(scene)], [revision, 500]);
    scene.metrics.up = true;
    await scene.pass(60_000);
    assert.deepEqual([boundsOf(scene).revision, demandOf(scene)], [revision, 500]);
    scene.metrics.up = false;
    await scene.pass(180_000);
    assert.equal(demandOf(scene), undefined, "what was published does not count for ever");
  },
);
