import assert from "node:assert/strict";
import type { KubeConnection, KubeRequest } from "../adapters/kube/connection.ts";
import { silentLog } from "../shared/log.ts";
import { seededRandom } from "../shared/random.ts";
import { createVirtualClock } from "../simulation/virtual_clock.ts";
import { connectControllerAPI } from "./controller_api.ts";

Deno.test({
  name: "connectControllerAPI() follows one ConfigMap by its name, and leases of its namespace",
  permissions: "none",
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
