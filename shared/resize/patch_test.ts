import assert from "node:assert/strict";
import fc from "fast-check";
import type { Resources } from "../api/pod.ts";
import { resizePatch } from "./patch.ts";

Deno.test({
  name: "resizePatch() names the pod's version where one is given, and what changes alone",
  permissions: "none",
  fn() {
    const app = { name: "app", sidecar: false, requests: {}, limits: { cpu: 300 } };
    const proxy = { name: "proxy", sidecar: true, requests: {}, limits: { cpu: 2000 } };
    const limits = (cpu: string) => ({ resources: { limits: { cpu } } });
    assert.deepEqual(resizePatch("u1", [app, proxy], { resourceVersion: "7" }), {
      metadata: { uid: "u1", resourceVersion: "7" },
      spec: {
        containers: [{ name: "app", ...limits("300m") }],
        initContainers: [{ name: "proxy", ...limits("2") }],
      },
    });
    assert.deepEqual(
      resizePatch("u1", [{ ...app, requests: { ...app.requests, cpu: 300 } }]).spec.containers?.[0]
        ?.resources,
      { requests: { cpu: "300m" }, limits: { cpu: "300m" } },
    );
    assert.deepEqual(resizePatch("u1", [app]).metadata, { uid: "u1" });
    assert.throws(() => resizePatch("u1", []), /no container changes/);
  },
});

Deno.test({
  name: "resizePatch() asks for all containers at once, and never takes a limit away",
  permissions: "none",
  fn() {
    // The server accepts a body whole or not at all; null would remove a limit, which it refuses.
    const change = fc.record({
      name: fc.stringMatching(/^[a-z]{1,8}$/),
      sidecar: fc.boolean(),
      requests: fc.constant({}),
      limits: fc.record({ cpu: fc.integer({ min: 1, max: 1e9 }) }),
    });
    const changes = fc.uniqueArray(change, { minLength: 1, selector: ({ name }) => name });
    fc.assert(fc.property(changes, (all) => {
      const { containers = [], initContainers = [] } = resizePatch("u1", all).spec;
      const asked = [...containers, ...initContainers];
      assert.deepEqual(
        asked.map(({ name }) => name).sort(),
        all.map(({ name }) => name).sort(),
      );
      for (const { resources } of asked) {
        assert.deepEqual(Object.keys(resources), ["limits"]);
        assert.match(resources.limits?.cpu ?? "", /^[1-9]/);
      }
    }));
  },
});

Deno.test({
  name:
    "resizePatch() sets requests, memory and limits with the same body, and only those asked for",
  permissions: "none",
  fn() {
    const bytes = 88_617_123;
    const named = { name: "app", sidecar: false };
    const resources = (change: Resources) =>
      resizePatch("u1", [{ ...named, ...change }]).spec.containers?.[0]?.resources;
    assert.deepEqual(resources({ requests: { cpu: 90, memory: bytes }, limits: {} }), {
      requests: { cpu: "90m", memory: "88617123" },
    });
    assert.deepEqual(resources({ requests: { memory: 2 ** 26 }, limits: { memory: 2 ** 27 } }), {
      requests: { memory: "64Mi" },
      limits: { memory: "128Mi" },
    });
    assert.deepEqual(resources({ requests: { cpu: 90 }, limits: { cpu: 2000 } }), {
      requests: { cpu: "90m" },
      limits: { cpu: "2" },
    });
  },
});
