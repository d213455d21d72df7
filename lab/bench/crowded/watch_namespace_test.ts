import assert from "node:assert/strict";
import { lowerings, noteRules, watchQuotas } from "./watch_namespace.ts";

function listOf(...pods: readonly (readonly [string, readonly string[]])[]): unknown {
  return {
    items: pods.map(([podUID, reasons]) => ({
      spec: { podUID },
      status: { bounds: { rules: reasons.map((reason) => ({ reason })) } },
    })),
  };
}

Deno.test("noteRules() counts each pod once a reason, over all looks", () => {
  const seen = new Map<string, Set<string>>();
  noteRules(seen, listOf(["a", ["HPAFloor", "QuotaExceeded"]], ["b", ["HPAFloor"]]));
  noteRules(seen, listOf(["a", ["HPAFloor"]], ["c", []]));
  noteRules(seen, { items: [{ spec: { podUID: "d" } }, 5] });
  assert.deepEqual([...seen].map(([reason, pods]) => [reason, [...pods]]), [
    ["HPAFloor", ["a", "b"]],
    ["QuotaExceeded", ["a"]],
  ]);
});

Deno.test("lowerings() finds each fall and no rise", () => {
  assert.deepEqual(lowerings([300, 300, 600, 600, 450, 450], 0.5), [{
    atS: 2,
    from: 600,
    to: 450,
  }]);
  assert.deepEqual(lowerings([300, 600, 600], 1), []);
});

Deno.test("watchQuotas() sums the limits of pods that have not ended, per namespace", async () => {
  const pod = (namespace: string, name: string, { phase = "Running", cpu = "300m" } = {}) => ({
    metadata: { name, namespace, uid: name, resourceVersion: "1" },
    spec: { containers: [{ name: "app", resources: { limits: { cpu } } }] },
    status: { phase, qosClass: "Burstable" },
  });
  const quota = (namespace: string) => ({
    metadata: { name: "cpu", namespace },
    status: {
      hard: { "limits.cpu": "1", "requests.cpu": "500m" },
      used: { "limits.cpu": "600m", "requests.cpu": "100m" },
    },
  });
  const answers: Record<string, unknown[]> = {
    "/api/v1/pods": [
      pod("a", "one"),
      pod("a", "two"),
      pod("a", "done", { phase: "Succeeded" }),
      pod("c", "unready", { cpu: "70m" }),
    ],
    "/api/v1/resourcequotas": [quota("a"), quota("b"), quota("c")],
  };
  const { samples, neverReady } = await watchQuotas({
    connection: {
      request: ({ path }) => Promise.resolve({ items: answers[path] }),
      lines: () => assert.fail(),
    },
    namespaces: { shop: "a", batch: "b", lab: "c" },
    startMs: Date.now(),
    seconds: 0,
  });
  assert.deepEqual(samples.map(({ place, limits }) => [place, limits]), [
    ["shop", 600],
    ["batch", 0],
    ["lab", 70],
  ]);
  assert.deepEqual(samples[0], {
    ...{ place: "shop", atS: 0, limits: 600 },
    ...{ used: 600, usedRequests: 100, hard: 1000, hardRequests: 500 },
  });
  assert.deepEqual(neverReady, [70]);
});
