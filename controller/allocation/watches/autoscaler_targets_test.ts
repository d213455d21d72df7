import assert from "node:assert/strict";
import type { VerticalPodAutoscaler } from "../../../shared/api/autoscalers.ts";
import { sampleVPA } from "../../../tests/fixtures/sample_workloads.ts";
import { createTargetMemory } from "./autoscaler_targets.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const KEY = "shop/web-vpa";
const web = { kind: "Deployment", name: "web" };
const api = { kind: "StatefulSet", name: "api" };

function stage(...present: VerticalPodAutoscaler[]) {
  const objects = new Map(present.map((one) => [KEY, one]));
  const targets = createTargetMemory({
    get: (key) => objects.get(key),
    all: () => objects.values(),
  });
  let version = 0;
  return {
    set(object: VerticalPodAutoscaler) {
      const metadata = { ...object.metadata, resourceVersion: `${++version}` };
      objects.set(KEY, { ...object, metadata });
      return targets(KEY);
    },
    remove() {
      objects.delete(KEY);
      return targets(KEY);
    },
  };
}

test("createTargetMemory() tells the target of an object that is new, changed or gone", () => {
  const { set, remove } = stage();
  assert.deepEqual(set(sampleVPA("Off")), [web]);
  assert.deepEqual(set(sampleVPA("Auto")), [web]);
  assert.deepEqual(remove(), [web]);
  assert.deepEqual(remove(), []);
});

test("createTargetMemory() tells both targets of an object that has moved", () => {
  const { set } = stage();
  set(sampleVPA("Auto"));
  assert.deepEqual(set(sampleVPA("Auto", { target: api })), [web, api]);
  assert.deepEqual(set(sampleVPA("Auto", { target: { ...api, kind: "Deployment" } })).length, 2);
});

test("createTargetMemory() says nothing of another version of the same", () => {
  const { set } = stage();
  set(sampleVPA("Auto"));
  assert.deepEqual(set(sampleVPA("Auto")), []);
});

test("createTargetMemory() knows what was there before", () => {
  const { set, remove } = stage(sampleVPA("Auto"));
  assert.deepEqual(set(sampleVPA("Auto")), []);
  assert.deepEqual(set(sampleVPA("Auto", { target: api })), [web, api]);
  assert.deepEqual(remove(), [api]);
});
