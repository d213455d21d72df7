import assert from "node:assert/strict";
import fc from "fast-check";
import { pure } from "../../tests/fixtures/pure.ts";
import type { Resources } from "../api/pod.ts";
import { resizePatch } from "./patch.ts";

const app = { name: "app", sidecar: false, requests: {}, limits: { cpu: 300 } };

pure("resizePatch() names the pod's version where one is given, and what changes alone", () => {
  const proxy = { ...app, name: "proxy", sidecar: true, limits: { cpu: 2000 } };
  const limits = (cpu: string) => ({ resources: { limits: { cpu } } });
  assert.deepEqual(resizePatch("u1", [app, proxy], { resourceVersion: "7" }), {
    metadata: { uid: "u1", resourceVersion: "7" },
    spec: {
      containers: [{ name: "app", ...limits("300m") }],
      initContainers: [{ name: "proxy", ...limits("2") }],
    },
  });
  assert.deepEqual(resizePatch("u1", [app]).metadata, { uid: "u1" });
  assert.deepEqual(Object.keys(resizePatch("u1", [app]).spec), ["containers"]);
  assert.throws(() => resizePatch("u1", []), /no container changes/);
  const rows: readonly (readonly [Resources, object])[] = [
    [{ requests: { cpu: 300 }, limits: { cpu: 300 } }, {
      ...{ requests: { cpu: "300m" }, limits: { cpu: "300m" } },
    }],
    [{ requests: { cpu: 90, memory: 88_617_123 }, limits: {} }, {
      requests: { cpu: "90m", memory: "88617123" },
    }],
    [{ requests: { memory: 2 ** 26 }, limits: { memory: 2 ** 27 } }, {
      ...{ requests: { memory: "64Mi" }, limits: { memory: "128Mi" } },
    }],
  ];
  for (const [change, resources] of rows) {
    const [patched] = resizePatch("u1", [{ ...app, ...change }]).spec.containers ?? [];
    assert.deepEqual(patched?.resources, resources);
  }
});

pure("resizePatch() asks for all containers at once, and never takes a limit away", () => {
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
    assert.deepEqual(asked.map(({ name }) => name).sort(), all.map(({ name }) => name).sort());
    for (const { resources } of asked) {
      assert.deepEqual(Object.keys(resources), ["limits"]);
      assert.match(resources.limits?.cpu ?? "", /^[1-9]/);
    }
  }));
});
