import assert from "node:assert/strict";
import { templateContainer } from "../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import { sampleWorkload } from "../../tests/fixtures/sample_workloads.ts";
import { foundWorkload, rightsizedWorkload } from "./rightsized_workload.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

test("rightsizedWorkload() is the workload with its template, and nothing without one", () => {
  const template = { containers: [templateContainer()], initContainers: [] };
  const { kind, metadata, rollout } = sampleWorkload();
  const makes = { paused: true, replicas: 4, template };
  assert.deepEqual(rightsizedWorkload({ ...sampleWorkload(), makes }), {
    kind,
    metadata,
    rollout,
    paused: true,
    replicas: 4,
    template,
  });
  const unreadableTemplate = "Cannot read it";
  assert.equal(rightsizedWorkload({ ...sampleWorkload(), unreadableTemplate }), undefined);
});

test("foundWorkload() says why nobody knows what a workload makes its pods of", () => {
  const template = { containers: [templateContainer()], initContainers: [] };
  const read = { ...sampleWorkload(), makes: { paused: false, replicas: 1, template } };
  assert.deepEqual(foundWorkload(read), rightsizedWorkload(read));
  const { kind, metadata } = read;
  const unreadableTemplate = "Cannot read a template: it has no containers";
  assert.deepEqual(foundWorkload({ ...sampleWorkload(), unreadableTemplate }), {
    kind,
    metadata,
    unreadableTemplate,
  });
});
