import assert from "node:assert/strict";
import type { KubeRequest } from "../adapters/kube/client/connection.ts";
import { effectiveSettings } from "../shared/config/load.ts";
import { silentLog } from "../shared/log.ts";
import { seededRandom } from "../shared/random.ts";
import { createVirtualClock } from "../lab/simulation/virtual_clock.ts";
import { connectControllerAPI } from "./controller_api.ts";
import type { ControllerAPI } from "./run_controller.ts";
import { CONTROLLER_SETTINGS } from "./settings.ts";

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
