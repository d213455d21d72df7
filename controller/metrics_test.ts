import assert from "node:assert/strict";
import { Registry } from "prom-client";
import type { KubeRequest } from "../adapters/kube/client/connection.ts";
import { createVirtualClock } from "../lab/simulation/virtual_clock.ts";
import type { Pod } from "../shared/api/pod.ts";
import type { PodAllocation } from "../shared/api/pod_allocation.ts";
import { effectiveSettings } from "../shared/config/load.ts";
import { silentLog } from "../shared/log.ts";
import { seededRandom } from "../shared/random.ts";
import {
  sampleAllocation,
  sampleContainer,
  samplePod,
} from "../tests/contract/support/sample_objects.ts";
import { createWatchedCache } from "../tests/fixtures/caches.ts";
import { pure, pureYAML } from "../tests/fixtures/pure.ts";
import { watchConfirmations } from "./confirmation_watch.ts";
import { connectControllerAPI } from "./controller_api.ts";
import { createControllerMetrics, createDropCounter } from "./metrics.ts";
import type { ControllerAPI } from "./run_controller.ts";
import { CONTROLLER_SETTINGS, type ControllerSettings } from "./settings.ts";
import { createWebhookMetrics } from "./webhook/metrics.ts";

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

Deno.test("metrics count what is dropped: each audit line, and resizes of each new queue", async () => {
  const { registry, metrics } = metricsOf([]);
  const drop = createDropCounter(registry);
  drop();
  drop();
  for (const dropped of [3, 5, 5, 2]) {
    metrics.resizeQueue({ waiting: 0, dropped, isBottleneck: false });
  }
  const lines = (await registry.metrics()).match(/^mbcas_.*_dropped_total .*$/gm);
  assert.deepEqual(lines?.sort(), [
    "mbcas_audit_lines_dropped_total 2",
    "mbcas_resizes_dropped_total 7",
  ]);
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
  const pods = createWatchedCache<Pod>();
  const allocations = createWatchedCache<PodAllocation>();
  const waits: number[] = [];
  const onConfirmed = (waitedMs: number) => void waits.push(waitedMs);
  watchConfirmations({ pods, allocations, clock, onConfirmed });
  const pod = samplePod("web");
  const allocation = sampleAllocation(pod);
  const want = (cpuLimit: string): void =>
    allocations.put({
      ...allocation,
      spec: { ...allocation.spec, containers: [{ name: "app", cpuLimit }] },
    });
  const apply = (cpu: number): void => {
    const limits = { cpu };
    pods.put({ ...pod, containers: [sampleContainer({ limits, applied: { limits } })] });
  };
  pods.put(pod);
  allocations.put(allocation);
  want("300m");
  await clock.runUntil(200);
  // A newer decision starts the time again.
  want("400m");
  await clock.runUntil(500);
  for (const [limit, seen] of [[300, []], [400, [300]], [400, [300]]] as const) {
    apply(limit);
    assert.deepEqual(waits, seen);
  }
  // A decision that the pod has already, and one that goes before it is applied.
  want("400m");
  want("500m");
  allocations.remove(allocation);
  apply(500);
  assert.deepEqual(waits, [300]);
});

pureYAML("connectControllerAPI() follows one ConfigMap, and what is turned on", async () => {
  const asked: unknown[] = [];
  const connection = {
    request({ path, query }: KubeRequest) {
      asked.push([path, query?.fieldSelector]);
      return Promise.resolve({ metadata: { resourceVersion: "9" }, items: [] });
    },
    async *lines() {},
  };
  const connect = (configMap: string | null, ...flags: readonly string[]): ControllerAPI => {
    const settings = effectiveSettings(CONTROLLER_SETTINGS, {
      flags: new Map(flags.map((flag) => [flag, "on"])),
    });
    assert.ok(!("faults" in settings));
    return connectControllerAPI(connection, {
      ...{ namespace: "ns", configMap, identity: "c-1", log: silentLog, random: seededRandom(1) },
      clock: createVirtualClock({ wallStart: 0 }),
      settings: () => settings.values,
    });
  };
  const off = connect(null);
  assert.deepEqual([off.settings, off.rightsizing, off.placement], Array(3).fill(undefined));
  const on = connect("settings", "--rightsizing", "--placement");
  assert.ok(on.placement);
  const { signal } = new AbortController();
  await on.settings?.list(signal);
  await on.sources.leases.list(signal);
  await on.rightsizing?.sources.policies.list(signal);
  await on.rightsizing?.sources.reports.list(signal);
  assert.deepEqual(asked, [
    ["/api/v1/namespaces/ns/configmaps", "metadata.name=settings"],
    ["/apis/coordination.k8s.io/v1/namespaces/ns/leases", undefined],
    ["/apis/optipod.io/v1alpha1/optimizationpolicies", undefined],
    ["/apis/optipod.io/v1alpha1/recommendationreports", undefined],
  ]);
});

Deno.test("createWebhookMetrics() counts requests, and has the certificates' ends", async () => {
  const registry = new Registry();
  const { answered, serves, made } = createWebhookMetrics(registry);
  const end = "mbcas_webhook_certificate_end_timestamp_seconds";
  assert.ok((await registry.metrics()).includes(`${end} 0\n`));
  const route = "/mutate/pods";
  for (const tookMs of [4, 400]) {
    answered({ route, operation: "CREATE", result: "patched", tookMs });
  }
  answered({ route, operation: "", result: "malformed", tookMs: 1 });
  serves({ notBeforeMs: 0, notAfterMs: 90_000, names: [], authority: false });
  made("authority");
  const text = await registry.metrics();
  const requests = "mbcas_webhook_requests_total";
  const bucket = "mbcas_webhook_request_duration_seconds_bucket";
  const lines = [
    `${requests}{route="${route}",operation="CREATE",result="patched"} 2`,
    `${requests}{route="${route}",operation="",result="malformed"} 1`,
    `${bucket}{le="0.2",route="${route}"} 2`,
    `${bucket}{le="0.5",route="${route}"} 3`,
    `${end} 90`,
    'mbcas_webhook_certificates_made_total{made="authority"} 1',
  ];
  for (const line of lines) assert.ok(text.includes(`${line}\n`), line);
});
