import assert from "node:assert/strict";
import type { AdmissionRequest } from "../../shared/admission/admission_review.ts";
import { assertMatches } from "../../tests/fixtures/assert_matches.ts";
import { manualCaches, SHOP } from "../../tests/fixtures/placement/placement_caches.ts";
import { PLACEMENT_DEFAULTS } from "../../tests/fixtures/placement/placement_defaults.ts";
import { createWebhookView } from "./caches.ts";
import { createPlacementWarner } from "./mutators.ts";

const { signal: SIGNAL } = new AbortController();
const ENABLED = { "spotalis.io/enabled": "true" };
const WRONG = { "spotalis.io/spot-percentage": "most", "spotalis.io/min-on-demand": "two" };
const SHARE = { "spotalis.io/spot-percentage": "70%" };

function warnerStage() {
  const caches = manualCaches();
  const settings = () => PLACEMENT_DEFAULTS;
  const view = createWebhookView(caches, { settings, evicted: new Set() });
  const warner = createPlacementWarner({ view, settings });
  const warned = async (
    annotations: Readonly<Record<string, string>>,
    changes: Partial<AdmissionRequest> = {},
  ) => {
    const mutation = await warner.mutate({
      uid: "1",
      kind: "Deployment",
      resource: "deployments",
      operation: "UPDATE",
      namespace: "shop",
      name: "web",
      dryRun: false,
      object: { metadata: { name: "web", labels: ENABLED, annotations }, spec: {} },
      ...changes,
    }, SIGNAL);
    assert.deepEqual(mutation?.patch ?? [], []);
    return mutation?.warnings;
  };
  return { caches, warned };
}

Deno.test("createPlacementWarner() warns about each fault of a new or changed workload", async () => {
  const { caches, warned } = warnerStage();
  for (const changes of [{}, { operation: "CREATE", dryRun: true }] as const) {
    assertMatches(await warned(WRONG, changes) ?? [], [
      / Deployment web /,
      /spot-percentage .*"most"/,
      /min-on-demand .*"two"/,
    ]);
  }
  const db = await warned(WRONG, { kind: "StatefulSet", resource: "statefulsets" });
  assert.match(db?.[0] ?? "", /StatefulSet web/);
  // The admission policy can't see these.
  const never = {
    "spotalis.io/disruption-schedule": "0 0 30 2 *",
    "spotalis.io/disruption-duration": "2h",
  };
  assert.match((await warned({ ...SHARE, ...never }))?.[1] ?? "", /-schedule .*workload/);
  caches.namespaces.put({ metadata: { ...SHOP.metadata, annotations: never } });
  assert.match((await warned(SHARE))?.[1] ?? "", /-schedule .*namespace/);
});

Deno.test("createPlacementWarner() warns in texts that API servers neither cut nor drop", async () => {
  const { caches, warned } = warnerStage();
  const long = "\u0000\n\u{1f995}".repeat(300);
  const keys = ["spot-percentage", "min-on-demand", "paused", "disruption-schedule"];
  const annotations = Object.fromEntries(keys.map((key) => [`spotalis.io/${key}`, long]));
  caches.namespaces.put({ metadata: { ...SHOP.metadata, annotations } });
  const name = "w".repeat(253);
  const object = { metadata: { name, labels: { ...ENABLED }, annotations }, spec: {} };
  const texts = await warned(annotations, { object }) ?? [];
  // k8s.io/apiserver, pkg/endpoints/filters/warning.go: beyond 4096 in all, each is cut to 256, and one with
  // control characters is dropped.
  assert.ok(texts.length > keys.length);
  assert.equal(new Set(texts).size, texts.length);
  assert.ok(texts.reduce((sum, one) => sum + [...one].length, 0) <= 4096);
  for (const one of texts) assert.doesNotMatch(one, /[\p{Cc}\p{Cs}]/u);
});

Deno.test("createPlacementWarner() is silent if nothing is wrong, or nothing is placed", async () => {
  const { caches, warned } = warnerStage();
  for (const annotations of [SHARE, {}]) assert.equal(await warned(annotations), undefined);
  const others = [
    { operation: "DELETE" },
    { resource: "deployments/scale" },
    { resource: "pods", kind: "Pod" },
    { resource: "daemonsets", kind: "DaemonSet" },
    { namespace: "kube-system" },
    { namespace: "unknown" },
    { object: { metadata: { annotations: WRONG } } },
  ] as const;
  for (const changes of others) {
    assert.equal(await warned(WRONG, changes), undefined, JSON.stringify(changes));
  }
  caches.namespaces.synced = false;
  assert.equal(await warned(WRONG), undefined);
  caches.namespaces.synced = true;
  const labels = { "spotalis.io/enabled": "false" };
  caches.namespaces.put({ metadata: { ...SHOP.metadata, labels } });
  assert.equal(await warned(WRONG), undefined);
});
