import assert from "node:assert/strict";
import { ApiError } from "../../shared/api/api_error.ts";
import type { WorkloadKind } from "../../shared/api/workload.ts";
import type { MissingPermission } from "../../shared/rightsizing/guards/rightsizing_facts.ts";
import { createPermissionMemory, type RightsPlace } from "./permission_memory.ts";

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
      missing(namespace, kind) {
        asked.push(`${namespace}/${kind}`);
        if (!state.answers) return Promise.reject(new ApiError(503, "", "busy"));
        return Promise.resolve(state.denied.has(namespace) ? [noResize(namespace)] : []);
      },
    },
  });
  return { ...memory, asked, state };
}

test("refresh() asks once for each namespace and kind, and missing() tells what was said", async () => {
  const { refresh, missing, asked } = stage();
  assert.deepEqual(missing(place("shop")), []);
  await refresh([place("shop"), place("shop"), place("free"), place("shop", "DaemonSet")]);
  assert.deepEqual(asked, ["shop/Deployment", "free/Deployment", "shop/DaemonSet"]);
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
  assert.equal(asked.length, 4);
});
