import assert from "node:assert/strict";
import type { WorkloadKind } from "../../shared/api/workload.ts";
import { createPermissionMemory, type PermissionScope } from "./permissions.ts";

const scope = (namespace: string, kind: WorkloadKind = "Deployment"): PermissionScope => ({
  kind,
  metadata: { namespace },
});
const RESIZE = "patch pods/resize in namespace shop";
const READ = "get deployments.apps in namespace shop";
const WRITE = "patch deployments.apps in namespace shop";

Deno.test({
  name: "missing() has refused permissions of the namespace and kind, by method, for 30 s",
  permissions: "none",
  fn() {
    let nowMs = 0;
    const { refused, missing } = createPermissionMemory({ clock: { monotonic: () => nowMs } });
    assert.deepEqual(missing(scope("shop")), []);
    refused(scope("shop"), RESIZE);
    for (const permission of [READ, WRITE]) refused(scope("shop"), permission);
    refused(scope("shop"), "patch podallocations.allocation.mbcas.io/status in namespace shop");
    assert.deepEqual(missing(scope("shop")), [
      { method: "InPlace", permission: RESIZE },
      { method: "Recreate", permission: WRITE },
    ]);
    assert.deepEqual(missing(scope("bank")), []);
    assert.deepEqual(missing(scope("shop", "DaemonSet")), []);
    nowMs = 20_000;
    refused(scope("shop"), WRITE);
    nowMs = 30_000;
    assert.deepEqual(missing(scope("shop")).map(({ method }) => method), ["Recreate"]);
    nowMs = 50_000;
    assert.deepEqual(missing(scope("shop")), []);
  },
});
