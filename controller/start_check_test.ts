import assert from "node:assert/strict";
import { silentLog } from "../shared/log.ts";
import { seededRandom } from "../shared/random.ts";
import { createVirtualClock } from "../lab/simulation/virtual_clock.ts";
import { assertMatches } from "../tests/fixtures/assert_matches.ts";
import { controllerRights } from "./rights.ts";
import { type ClusterFindings, startCheck } from "./start_check.ts";

const FINE: ClusterFindings = {
  serverVersion: "v1.36.3",
  servesPodResize: true,
  servesAllocations: true,
  unknownFields: [],
  missingRights: [],
};

function check(findings: Partial<ClusterFindings>) {
  return startCheck({
    ask: () => Promise.resolve({ ...FINE, ...findings }),
    clock: createVirtualClock({ wallStart: 0 }),
    random: seededRandom(1),
    log: silentLog,
    rights: [],
    waitsFor: () => {},
  }, new AbortController().signal);
}

Deno.test({
  name: "startCheck() names each missing right, and finds a server that can't resize pods",
  permissions: "none",
  async fn() {
    assert.deepEqual(await check({}), { servesPodResize: true });
    assert.deepEqual(await check({ servesPodResize: false }), { servesPodResize: false });
    const verdict = await check({
      missingRights: [
        { verb: "patch", group: "", resource: "pods", subresource: "resize" },
        { verb: "watch", group: "", resource: "configmaps", namespace: "ns", name: "settings" },
        { verb: "list", group: "coordination.k8s.io", resource: "leases", namespace: "ns" },
      ],
    });
    assert.ok(typeof verdict === "object" && "faults" in verdict);
    assertMatches(verdict.faults, [
      / account .* patch pods\/resize; /,
      / account .* watch configmaps "settings" in ns; /,
      / account .* list leases\.coordination\.k8s\.io in ns; /,
    ]);
  },
});

Deno.test({
  name: "startCheck() passes on a fault of the program",
  permissions: "none",
  async fn() {
    const parts = {
      ask: () => Promise.reject(new TypeError("a fault")),
      clock: createVirtualClock({ wallStart: 0 }),
      random: seededRandom(1),
      log: silentLog,
      rights: [],
      waitsFor: () => {},
    };
    await assert.rejects(startCheck(parts, new AbortController().signal), TypeError);
    const stopped = new AbortController();
    stopped.abort();
    assert.equal(await startCheck(parts, stopped.signal), "stopped");
  },
});

Deno.test({
  name: "controllerRights() names one ConfigMap, or none",
  permissions: "none",
  fn() {
    const named = controllerRights({ namespace: "ns", configMap: "settings" });
    assert.deepEqual(named.filter(({ resource }) => resource === "configmaps"), [
      { verb: "list", group: "", resource: "configmaps", namespace: "ns", name: "settings" },
      { verb: "watch", group: "", resource: "configmaps", namespace: "ns", name: "settings" },
    ]);
    const rest = controllerRights({ namespace: "ns", configMap: null });
    assert.equal(rest.length, named.length - 2);
  },
});
