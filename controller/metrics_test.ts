import assert from "node:assert/strict";
import { Registry } from "prom-client";
import type { KubeRequest } from "../adapters/kube/client/connection.ts";
import { createSimulatedAPI } from "../lab/simulation/api/simulated_api.ts";
import { createVirtualClock } from "../lab/simulation/virtual_clock.ts";
import type { PodAllocation } from "../shared/api/pod_allocation.ts";
import { effectiveSettings } from "../shared/config/load.ts";
import { createInformer } from "../shared/control/informer.ts";
import { silentLog } from "../shared/log.ts";
import { seededRandom } from "../shared/random.ts";
import {
  sampleAllocation,
  sampleContainer,
  samplePod,
} from "../tests/contract/support/sample_objects.ts";
import { pure } from "../tests/fixtures/pure.ts";
import { watchConfirmations } from "./confirmation_watch.ts";
import { connectControllerAPI } from "./controller_api.ts";
import { createControllerMetrics, createDropCounter } from "./metrics.ts";
import type { ControllerAPI } from "./run_controller.ts";
import { CONTROLLER_SETTINGS, type ControllerSettings } from "./settings.ts";

/** A registry, and the metrics of a controller with these allocations. */
function metricsOf(allocations: readonly PodAllocation[]) {
  const registry = new Registry();
  const metrics = createControllerMetrics(registry, {
    allocations: () => allocations,
    synced: () => [["pods", true]],
    settings: () => ({ market: true, dryRun: false }) as ControllerSettings,
    settingsValid: () => true,
  });
  return { registry, metrics };
}

Deno.test("createControllerMetrics() counts reasons of other versions under one reason", async () => {
  const rules = ["NodeSize", "NodeSize", "Later", "Latest"].map((reason) => ({
    ...{ reason, message: "as published" },
  }));
  const statuses: readonly PodAllocation["status"][] = [
    undefined,
    { phase: "Applied", reason: "Applied" },
    { phase: "Failed", reason: "OfALaterVersion" },
    { bounds: { revision: 1, reason: "", containers: [], rules } },
  ];
  const { registry, metrics } = metricsOf(
    statuses.map((status) => ({ ...sampleAllocation(samplePod("web")), status })),
  );
  const reasons = async (): Promise<readonly string[]> =>
    (await registry.metrics()).split("\n").filter((line) => line.includes("reason="));
  metrics.leads(true);
  const lines = await reasons();
  assert.deepEqual(lines, [
    'mbcas_allocations{phase="Pending",reason="Waiting"} 2',
    'mbcas_allocations{phase="Applied",reason="Applied"} 1',
    'mbcas_allocations{phase="Failed",reason="OtherVersion"} 1',
    'mbcas_bounds{reason="NodeSize"} 1',
    'mbcas_bounds{reason="OtherVersion"} 1',
  ]);
  assert.deepEqual(await reasons(), lines);
});

Deno.test("createDropCounter() counts each line", async () => {
  const registry = new Registry();
  const drop = createDropCounter(registry);
  drop();
  drop();
  assert.match(await registry.metrics(), /^mbcas_audit_lines_dropped_total 2$/m);
});

pure("createControllerMetrics() adds up the unmet demand by reason", async () => {
  const container = { name: "app", containerID: "containerd://a", floor: 100, weight: 1 };
  const market = { mode: "uncongested", need: 0, credit: 1, reason: "Throttled" } as const;
  const pod = (
    demand: number,
    ceiling: number,
    { reasons, ...status }: Partial<NonNullable<PodAllocation["status"]>> & {
      readonly reasons: readonly string[];
    },
  ): PodAllocation => {
    const rules = reasons.map((reason) => ({ reason, message: "" }));
    const containers = [{ ...container, ceiling }];
    const allocation = sampleAllocation(samplePod("web"));
    return {
      ...allocation,
      spec: { ...allocation.spec, market: { ...market, demand, observedBounds: 1 } },
      status: { ...status, bounds: { revision: 1, reason: "", containers, rules } },
    };
  };
  const { registry, metrics } = metricsOf([
    pod(900, 400, { reasons: ["HPADamped", "MaxCPU"] }),
    pod(500, 400, { reasons: ["MaxCPU"] }),
    pod(400, 400, { reasons: ["NodeSize"] }),
    pod(700, 400, { reasons: ["QuotaExceeded"] }),
    pod(700, 800, { reasons: [], reason: "QuotaExceeded", appliedCPULimit: "500m" }),
    { ...pod(700, 400, { reasons: [] }), status: {} },
  ]);
  metrics.leads(true);
  assert.deepEqual((await registry.metrics()).match(/^mbcas_demand_held_cores\{.*$/gm), [
    'mbcas_demand_held_cores{reason="MaxCPU"} 0.6',
    'mbcas_demand_held_cores{reason="QuotaExceeded"} 0.5',
  ]);
});

pure("createControllerMetrics() serves the cluster's state from the leader", async () => {
  const { registry, metrics } = metricsOf([sampleAllocation(samplePod("web"))]);
  const gauges = async (): Promise<readonly string[]> =>
    (await registry.metrics()).split("\n").filter((line) =>
      !line.startsWith("#") && !/_(total|bucket|sum|count)[ {]/.test(line) && line !== ""
    );
  const ofReplica = ['mbcas_cache_synced{kind="pods"} 1', "mbcas_settings_valid 1"];
  metrics.queue(7, 7);
  assert.deepEqual(await gauges(), ["mbcas_leader 0", ...ofReplica]);
  metrics.leads(true);
  metrics.queue(2, 3);
  metrics.agents({ silent: new Set(["node-1"]), overdue: 2, agents: 9 });
  metrics.resizeQueue({ waiting: 4, dropped: 1, isBottleneck: true });
  assert.deepEqual(await gauges(), [
    ...["mbcas_leader 1", ...ofReplica],
    'mbcas_allocations{phase="Pending",reason="Waiting"} 1',
    ...["mbcas_metric_demand_pods 0", "mbcas_market_enabled 1", "mbcas_dry_run 0"],
    ...["mbcas_agents 9", "mbcas_agents_overdue 2", "mbcas_agents_silent 1"],
    ...["mbcas_queue_depth 2", "mbcas_queue_delayed 3"],
    ...["mbcas_resizes_waiting 4", "mbcas_resize_rate_bottleneck 1"],
  ]);
  metrics.leads(false);
  assert.deepEqual(await gauges(), ["mbcas_leader 0", ...ofReplica]);
});

pure("watchConfirmations() counts from a decision to the pod's status", async () => {
  const clock = createVirtualClock({ wallStart: 0 });
  const api = createSimulatedAPI({ clock, random: seededRandom(1), latencyMs: 2 });
  const { Pod: pods, PodAllocation: allocations } = api.store.tables;
  const stop = new AbortController();
  const parts = { clock, random: seededRandom(2), log: silentLog };
  const informers = {
    pods: createInformer({ ...parts, source: api.listWatch("Pod"), name: "Pod" }),
    allocations: createInformer({
      ...{ ...parts, source: api.listWatch("PodAllocation"), name: "PodAllocation" },
    }),
  };
  const runs = Object.values(informers).map((one) => one.run(stop.signal));
  const waits: number[] = [];
  const onConfirmed = (waitedMs: number) => void waits.push(Math.round(waitedMs / 50) * 50);
  watchConfirmations({ ...informers, clock, onConfirmed });
  const pass = (ms: number): Promise<void> => clock.runUntil(clock.monotonic() + ms);
  const pod = pods.seed(samplePod("web"));
  const { metadata: { name } } = allocations.seed(sampleAllocation(pod));
  const want = (cpuLimit: string): void =>
    void allocations.modify(`shop/${name}`, (old) => ({
      ...old,
      spec: { ...old.spec, containers: [{ name: "app", cpuLimit }] },
    }));
  const apply = (cpu: number): void => {
    const containers = [sampleContainer({ limits: { cpu }, applied: { limits: { cpu } } })];
    pods.modify("shop/web", (old) => ({ ...old, containers }));
  };
  await pass(100);
  want("300m");
  await pass(200);
  want("400m");
  await pass(300);
  for (const [limit, seen] of [[300, []], [400, [400]], [400, [400]]] as const) {
    apply(limit);
    await pass(100);
    assert.deepEqual(waits, seen);
  }
  allocations.remove(`shop/${name}`);
  stop.abort();
  await pass(100);
  await Promise.all(runs);
  assert.deepEqual(waits, [400]);
});

/** The ports on a server with one settings file, and what it is asked. */
function connected(configMap: string | null, ...flags: readonly (readonly [string, string])[]) {
  const settings = effectiveSettings(CONTROLLER_SETTINGS, { flags: new Map(flags) });
  assert.ok(!("faults" in settings));
  const asked: KubeRequest[] = [];
  const connection = {
    request(request: KubeRequest) {
      asked.push(request);
      const metadata = { name: "settings", namespace: "ns", uid: "u", resourceVersion: "7" };
      const isSettings = request.path.endsWith("/configmaps");
      const items = isSettings ? [{ metadata, data: { "config.yaml": "market: off" } }] : [];
      return Promise.resolve({ metadata: { resourceVersion: "9" }, items });
    },
    async *lines() {},
  };
  const api: ControllerAPI = connectControllerAPI(connection, {
    ...{ namespace: "ns", configMap, identity: "c-1", log: silentLog, random: seededRandom(1) },
    clock: createVirtualClock({ wallStart: 0 }),
    settings: () => settings.values,
  });
  return { api, asked, signal: new AbortController().signal };
}

/** The YAML parser looks at two variables for its own debugging. */
function test(name: string, fn: () => void | Promise<void>): void {
  Deno.test({ name, permissions: { env: ["LOG_TOKENS", "LOG_STREAM"] }, fn });
}

test("connectControllerAPI() follows one ConfigMap by its name, and leases of its namespace", async () => {
  const { api, asked, signal } = connected("settings");
  const settings = await api.settings?.list(signal);
  assert.deepEqual(settings?.items.map(({ data }) => data), [{ "config.yaml": "market: off" }]);
  await api.sources.leases.list(signal);
  assert.deepEqual(asked.map(({ path, query }) => [path, query?.fieldSelector]), [
    ["/api/v1/namespaces/ns/configmaps", "metadata.name=settings"],
    ["/apis/coordination.k8s.io/v1/namespaces/ns/leases", undefined],
  ]);
});

test("connectControllerAPI() knows features only where the settings turn them on", async () => {
  const off = connected(null).api;
  assert.deepEqual([off.settings, off.rightsizing, off.placement], Array(3).fill(undefined));
  assert.ok(connected(null, ["--placement", "on"]).api.placement);
  const { api: { rightsizing }, asked, signal } = connected(null, ["--rightsizing", "on"]);
  await rightsizing?.sources.policies.list(signal);
  await rightsizing?.sources.reports.list(signal);
  assert.deepEqual(asked.map(({ path }) => path), [
    "/apis/optipod.io/v1alpha1/optimizationpolicies",
    "/apis/optipod.io/v1alpha1/recommendationreports",
  ]);
});
