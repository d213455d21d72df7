import assert from "node:assert/strict";
import type { KubeConnection, KubeRequest } from "../../adapters/kube/client/connection.ts";
import { effectiveSettings } from "../../shared/config/load.ts";
import { silentLog } from "../../shared/log.ts";
import { seededRandom } from "../../shared/random.ts";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import { CONTROLLER_SETTINGS } from "../settings.ts";
import { connectRightsizingAPI } from "./api.ts";

Deno.test({
  name:
    "connectRightsizingAPI() resizes under a name of its own, asks what is served, and keeps corrections apart",
  // The YAML parser looks at two variables for its own debugging.
  permissions: { env: ["LOG_TOKENS", "LOG_STREAM"] },
  async fn() {
    const asked: KubeRequest[] = [];
    const connection: KubeConnection = {
      request(request) {
        asked.push(request);
        const resources = [{ name: "pods" }, { name: "pods/resize" }];
        const metadata = { resourceVersion: "9" };
        const list = { kind: "PodMetricsList", items: [] };
        return Promise.resolve({ gitVersion: "v1.36.3", metadata, resources, ...list });
      },
      async *lines() {},
    };
    const settings = effectiveSettings(CONTROLLER_SETTINGS, {});
    assert.ok(!("faults" in settings));
    const api = connectRightsizingAPI(connection, {
      namespace: "ns",
      settings: () => settings.values,
      events: { emit: () => {} },
      clock: createVirtualClock({ wallStart: 0 }),
      random: seededRandom(1),
      log: silentLog,
    });
    assert.deepEqual(await api.resizeSupport(), { resizeServed: true, lowersMemoryLimits: true });
    asked.length = 0;
    const patch = { metadata: { uid: "u" }, spec: {} };
    await api.resizer.resize("shop", "web-0", patch);
    assert.deepEqual(asked, [{
      method: "PATCH",
      path: "/api/v1/namespaces/shop/pods/web-0/resize",
      query: { fieldManager: "optipod" },
      contentType: "application/strategic-merge-patch+json",
      body: patch,
      auditID: undefined,
    }]);
    asked.length = 0;
    const { signal } = new AbortController();
    assert.deepEqual(await api.correctionStore.list(signal), []);
    assert.deepEqual(asked, [{
      path: "/api/v1/namespaces/ns/configmaps",
      query: { labelSelector: "optipod.io/corrections=true" },
      signal,
    }]);
    asked.length = 0;
    const over = new AbortController();
    const { run, close } = api.usage({
      ofReading: () => () => undefined,
      isWanted: () => true,
      workloadUIDs: () => (over.abort(), undefined),
    }, undefined);
    await run(over.signal);
    close();
    assert.deepEqual(asked.map(({ path, query }) => [path, query?.["labelSelector"]]), [
      ["/api/v1/namespaces/ns/configmaps", "optipod.io/usage-history=true"],
      ["/apis/metrics.k8s.io/v1beta1/pods", undefined],
    ]);
  },
});
