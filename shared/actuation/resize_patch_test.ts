import assert from "node:assert/strict";
import { resizePatch } from "./resize_patch.ts";

Deno.test({
  name: "resizePatch() names the pod's version where one is given, and what changes alone",
  permissions: "none",
  fn() {
    const app = { name: "app", sidecar: false, limitCPU: 300 };
    const proxy = { name: "proxy", sidecar: true, limitCPU: 2000 };
    const limits = (cpu: string) => ({ resources: { limits: { cpu } } });
    assert.deepEqual(resizePatch("u1", [app, proxy], { resourceVersion: "7" }), {
      metadata: { uid: "u1", resourceVersion: "7" },
      spec: {
        containers: [{ name: "app", ...limits("300m") }],
        initContainers: [{ name: "proxy", ...limits("2") }],
      },
    });
    assert.deepEqual(resizePatch("u1", [app]).metadata, { uid: "u1" });
    assert.throws(() => resizePatch("u1", []), /no container changes/);
  },
});
