import assert from "node:assert/strict";
import { ApiError } from "../../shared/api/api_error.ts";
import type { WorkloadKind } from "../../shared/api/workload.ts";
import type { MissingPermission } from "../../shared/rightsizing/guards/rightsizing_facts.ts";
import type { PolicySpec } from "../../shared/rightsizing/policy_spec.ts";
import { autoPolicy } from "../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import { createPermissionMemory, type RightsPlace, watchedNamespaces } from "./permissions.ts";

function test(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, permissions: "none", fn });
}

const place = (namespace: string, kind: WorkloadKind = "Deployment"): RightsPlace => ({
  kind,
  metadata: { namespace },
});
const noResize = (namespace: string): MissingPermission => ({
  method: "InPlace",
  permission: `patch pods/resize in namespace ${namespace}`,
});

function stage() {
  const asked: string[] = [];
  const state = { nowMs: 0, denied: new Set(["shop"]), answers: true };
  const memory = createPermissionMemory({
    clock: { monotonic: () => state.nowMs },
    freshMs: 1000,
    missingFreshMs: 100,
    rights: {
      missing(kind, namespaces) {
        asked.push(`${kind} ${namespaces.join()}`);
        if (!state.answers) return Promise.reject(new ApiError(503, "", "busy"));
        return Promise.resolve(
          new Map(
            namespaces.map((one) => [one, state.denied.has(one) ? [noResize(one)] : []] as const),
          ),
        );
      },
    },
  });
  return { ...memory, asked, state };
}

test("refresh() asks once for each kind with its namespaces, and missing() tells what was said", async () => {
  const { refresh, missing, asked } = stage();
  assert.deepEqual(missing(place("shop")), []);
  await refresh([place("shop"), place("shop"), place("free"), place("shop", "DaemonSet")]);
  assert.deepEqual(asked, ["Deployment shop,free", "DaemonSet shop"]);
  assert.deepEqual(missing(place("shop")), [noResize("shop")]);
  assert.deepEqual(missing(place("free")), []);
  assert.deepEqual(missing(place("shop", "StatefulSet")), []);
});

test("refresh() asks again only when an answer is old, and sooner where something is missing", async () => {
  const { refresh, missing, asked, state } = stage();
  await refresh([place("shop")]);
  state.denied.clear();
  state.nowMs = 99;
  await refresh([place("shop")]);
  assert.deepEqual([asked.length, missing(place("shop"))], [1, [noResize("shop")]]);
  state.nowMs = 100;
  await refresh([place("shop")]);
  assert.deepEqual([asked.length, missing(place("shop"))], [2, []]);
  state.denied.add("shop");
  state.nowMs = 1099;
  await refresh([place("shop")]);
  assert.deepEqual([asked.length, missing(place("shop"))], [2, []]);
  state.nowMs = 1100;
  await refresh([place("shop")]);
  assert.deepEqual([asked.length, missing(place("shop"))], [3, [noResize("shop")]]);
});

test("refresh() keeps what was known while nobody answers, and asks again the next time", async () => {
  const { refresh, missing, asked, state } = stage();
  await refresh([place("shop")]);
  state.nowMs = 2000;
  state.answers = false;
  await refresh([place("shop"), place("free")]);
  assert.deepEqual(missing(place("shop")), [noResize("shop")]);
  assert.deepEqual(missing(place("free")), []);
  state.answers = true;
  await refresh([place("shop")]);
  assert.equal(asked.length, 3);
});

test("refresh() forgets what was said of places that are not asked about any more", async () => {
  const { refresh, missing, asked } = stage();
  await refresh([place("shop"), place("shop", "DaemonSet")]);
  await refresh([place("shop", "DaemonSet")]);
  assert.deepEqual(missing(place("shop")), []);
  assert.deepEqual(missing(place("shop", "DaemonSet")), [noResize("shop")]);
  await refresh([place("shop")]);
  assert.equal(asked.length, 3);
});

test("forget() lets the next refresh() ask anew", async () => {
  const { refresh, forget, missing, asked, state } = stage();
  await refresh([place("free"), place("other")]);
  state.denied.add("free");
  forget(place("free"));
  await refresh([place("free"), place("other")]);
  assert.deepEqual(missing(place("free")), [noResize("free")]);
  assert.deepEqual(asked, ["Deployment free,other", "Deployment free"]);
});

const WORKLOADS = ["shop/web", "shop/db", "bank/web", "quiet/web"].flatMap((path) => {
  const [namespace = "", name = ""] = path.split("/");
  return (["Deployment", "DaemonSet"] as const).map((kind: WorkloadKind) => ({
    kind,
    metadata: { namespace, name },
  }));
});

function placesFor(spec: PolicySpec): readonly string[] {
  return watchedNamespaces(WORKLOADS, {
    policies: [{ metadata: { namespace: "ops", name: "all" }, spec }],
    namespaces: new Map(),
    policyNamespaces: ["ops"],
  }).map(({ kind, metadata: { namespace, name } }) => `${kind} ${namespace}/${name}`);
}

Deno.test("watchedNamespaces() has one workload a namespace and kind, of those that an enabled policy has", () => {
  const selector: PolicySpec["selector"] = {
    namespaces: { allow: [], deny: ["quiet"] },
    workloadKinds: ["Deployment"],
  };
  assert.deepEqual(placesFor(autoPolicy({}, { selector })), [
    "Deployment shop/web",
    "Deployment bank/web",
  ]);
  assert.deepEqual(placesFor(autoPolicy({}, { selector, mode: "Disabled" })), []);
});
