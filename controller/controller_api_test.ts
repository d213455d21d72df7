import assert from "node:assert/strict";
import type { KubeConnection, KubeRequest } from "../adapters/kube/client/connection.ts";
import { effectiveSettings } from "../shared/config/load.ts";
import { silentLog } from "../shared/log.ts";
import { seededRandom } from "../shared/random.ts";
import { createVirtualClock } from "../lab/simulation/virtual_clock.ts";
import { connectControllerAPI } from "./controller_api.ts";
import { CONTROLLER_SETTINGS, type ControllerSettings } from "./settings.ts";

/** The YAML parser looks at two variables for its own debugging. */
const PURE = { env: ["LOG_TOKENS", "LOG_STREAM"] };

function settingsWith(flags: Readonly<Record<string, string>>): ControllerSettings {
  const settings = effectiveSettings(CONTROLLER_SETTINGS, {
    flags: new Map(Object.entries(flags)),
  });
  assert.ok(!("faults" in settings));
  return settings.values;
}

Deno.test({
  name: "connectControllerAPI() follows one ConfigMap by its name, and leases of its namespace",
  permissions: PURE,
  async fn() {
    const asked: KubeRequest[] = [];
    const connection: KubeConnection = {
      request(request) {
        asked.push(request);
        const metadata = { name: "settings", namespace: "ns", uid: "u", resourceVersion: "7" };
        const items = [{ metadata, data: { "config.yaml": "market: off" } }];
        return Promise.resolve({ metadata: { resourceVersion: "9" }, items });
      },
      async *lines() {},
    };
    const options = {
      namespace: "ns",
      clock: createVirtualClock({ wallStart: 0 }),
      log: silentLog,
      random: seededRandom(1),
      identity: "c-1",
      settings: () => settingsWith({}),
    };
    const { signal } = new AbortController();
    const api = connectControllerAPI(connection, { ...options, configMap: "settings" });
    const settings = await api.settings?.list(signal);
    assert.deepEqual(settings?.items.map(({ data }) => data), [{ "config.yaml": "market: off" }]);
    await api.sources.leases.list(signal);
    assert.deepEqual(asked.map(({ path, query }) => [path, query?.fieldSelector]), [
      ["/api/v1/namespaces/ns/configmaps", "metadata.name=settings"],
      ["/apis/coordination.k8s.io/v1/namespaces/ns/leases", undefined],
    ]);
    assert.equal(
      connectControllerAPI(connection, { ...options, configMap: null }).settings,
      undefined,
    );
  },
});

Deno.test({
  name: "connectControllerAPI() knows rightsizing only where the settings turn it on",
  permissions: PURE,
  async fn() {
    const asked: KubeRequest[] = [];
    const connection: KubeConnection = {
      request(request) {
        asked.push(request);
        return Promise.resolve({ metadata: { resourceVersion: "9" }, items: [] });
      },
      async *lines() {},
    };
    const apiWith = (flags: Readonly<Record<string, string>>) =>
      connectControllerAPI(connection, {
        namespace: "ns",
        configMap: null,
        clock: createVirtualClock({ wallStart: 0 }),
        log: silentLog,
        random: seededRandom(1),
        identity: "c-1",
        settings: () => settingsWith(flags),
      });
    assert.equal(apiWith({}).rightsizing, undefined);
    const { rightsizing } = apiWith({ "--rightsizing": "on" });
    const { signal } = new AbortController();
    await rightsizing?.sources.policies.list(signal);
    await rightsizing?.sources.reports.list(signal);
    assert.deepEqual(asked.map(({ path }) => path), [
      "/apis/optipod.io/v1alpha1/optimizationpolicies",
      "/apis/optipod.io/v1alpha1/recommendationreports",
    ]);
  },
});

Deno.test({
  name: "connectControllerAPI() knows placement only where the settings turn it on",
  permissions: PURE,
  fn() {
    const placementWith = (flags: Readonly<Record<string, string>>) =>
      connectControllerAPI({ request: () => Promise.reject(), async *lines() {} }, {
        namespace: "ns",
        configMap: null,
        clock: createVirtualClock({ wallStart: 0 }),
        log: silentLog,
        random: seededRandom(1),
        identity: "c-1",
        settings: () => settingsWith(flags),
      }).placement;
    assert.equal(placementWith({}), undefined);
    assert.ok(placementWith({ "--placement": "on" }));
  },
});
