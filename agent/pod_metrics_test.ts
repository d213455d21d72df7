import assert from "node:assert/strict";
import { Registry } from "prom-client";
import type { NodeView, PodView } from "../shared/view/node_view.ts";
import { registerPodMetrics } from "./pod_metrics.ts";

function pod(name: string, fields: Partial<PodView> = {}): PodView {
  return {
    namespace: "shop",
    pod: name,
    uid: `uid-of-${name}`,
    demand: 0,
    need: 0,
    limit: 100,
    floor: 0,
    ceiling: 0,
    ownLimit: 0,
    price: null,
    bounds: { revision: 1, reason: "" },
    containers: [],
    ...fields,
  };
}

function view(...pods: PodView[]): NodeView {
  return {
    node: "n",
    at: "2026-01-01T00:00:00Z",
    mode: "uncongested",
    price: 0,
    allocatable: 1000,
    capacity: 900,
    unmanaged: 0,
    committed: 0,
    pods,
  };
}

/** The lines with values of what a scrape finds. */
async function scraped(registry: Registry): Promise<string[]> {
  return (await registry.metrics()).split("\n").filter((line) => line !== "" && line[0] !== "#");
}

function setUp() {
  const registry = new Registry();
  const now: { view?: NodeView } = {};
  registerPodMetrics({ registry, view: () => now.view }, [
    { type: "gauge", name: "pod_limit", help: "Limit.", value: ({ limit }) => limit },
    { type: "gauge", name: "pod_usage", help: "Usage.", value: ({ usage }) => usage },
    { type: "counter", name: "pod_sum_total", help: "Sum.", value: ({ need }) => need },
  ]);
  return { registry, now };
}

function test(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, permissions: "none", fn });
}

test("a metric has the value of each pod, where there is one", async () => {
  const { registry, now } = setUp();
  assert.deepEqual(await scraped(registry), []);
  now.view = view(pod("a", { usage: 20, need: 3 }), pod("b", { limit: Infinity }));
  assert.deepEqual(await scraped(registry), [
    'pod_limit{namespace="shop",pod="a"} 100',
    'pod_limit{namespace="shop",pod="b"} +Inf',
    'pod_usage{namespace="shop",pod="a"} 20',
    'pod_sum_total{namespace="shop",pod="a"} 3',
    'pod_sum_total{namespace="shop",pod="b"} 0',
  ]);
  const text = await registry.metrics();
  assert.match(text, /^# HELP pod_limit Limit\.\n# TYPE pod_limit gauge$/m);
  assert.match(text, /^# TYPE pod_sum_total counter$/m);
});

test("a scrape shows the pods of the latest view", async () => {
  const { registry, now } = setUp();
  now.view = view(pod("a"), pod("b"));
  await scraped(registry);
  now.view = view(pod("b", { limit: 200 }), pod("a", { limit: 300 }));
  const limits = async (): Promise<string[]> =>
    (await scraped(registry)).filter((line) => line.startsWith("pod_limit"));
  assert.deepEqual(await limits(), [
    'pod_limit{namespace="shop",pod="b"} 200',
    'pod_limit{namespace="shop",pod="a"} 300',
  ]);
  now.view = view();
  assert.deepEqual(await limits(), []);
});

test("of two pods of one name, the series are those of the one with readings", async () => {
  const { registry, now } = setUp();
  const dead = pod("web-0", { limit: 100, need: 7 });
  const alive = pod("web-0", { uid: "another", limit: 200, usage: 5, need: 2 });
  for (const pods of [[dead, alive], [alive, dead]]) {
    now.view = view(...pods);
    assert.deepEqual(await scraped(registry), [
      'pod_limit{namespace="shop",pod="web-0"} 200',
      'pod_usage{namespace="shop",pod="web-0"} 5',
      'pod_sum_total{namespace="shop",pod="web-0"} 2',
    ]);
  }
});

test("the library's JSON has the values and their labels, too", async () => {
  const { registry, now } = setUp();
  now.view = view(pod("a"));
  const [limits] = await registry.getMetricsAsJSON();
  assert.equal(limits?.name, "pod_limit");
  const [first] = limits?.values ?? [];
  assert.deepEqual([first?.value, first?.labels], [100, { namespace: "shop", pod: "a" }]);
});
