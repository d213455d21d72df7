import assert from "node:assert/strict";
import { ApiError } from "../../shared/api/api_error.ts";
import { rightsizingFacts } from "../../tests/fixtures/rightsizing_facts.ts";
import type { WorkloadWriter } from "./loop_ports.ts";
import { observedWorkloads } from "./observed_workloads.ts";

const { workload } = rightsizingFacts();

function stage(failure?: Error) {
  const told: string[] = [];
  const asked: unknown[] = [];
  const writer: WorkloadWriter = {
    recreate(...args) {
      asked.push(args);
      return failure === undefined ? Promise.resolve() : Promise.reject(failure);
    },
    annotate(...args) {
      asked.push(args);
      return Promise.resolve();
    },
  };
  const observed = observedWorkloads(writer, {
    templatePatched: ({ kind, outcome }) => void told.push(`${kind} ${outcome}`),
  });
  return { observed, told, asked };
}

const wanted = new Map();

Deno.test("observedWorkloads() asks the writer, and tells of server-side apply alone", async () => {
  const { observed, told, asked } = stage();
  await observed.recreate(workload, wanted, { serverSideApply: true });
  assert.deepEqual(told, ["Deployment accepted"]);
  await observed.recreate(workload, wanted, { serverSideApply: false });
  const patch = { metadata: { annotations: { a: null } } };
  await observed.annotate(workload, patch);
  assert.equal(told.length, 1);
  assert.deepEqual(asked, [
    [workload, wanted, { serverSideApply: true }],
    [workload, wanted, { serverSideApply: false }],
    [workload, patch],
  ]);
});

Deno.test("observedWorkloads() tells what was refused in a word, and lets the error through", async () => {
  for (
    const [failure, word] of [
      [new ApiError(403, "Forbidden", "no"), "refused"],
      [new ApiError(409, "Conflict", "old"), "conflict"],
      [new ApiError(404, "NotFound", "gone"), "gone"],
      [new ApiError(503, "", "later"), "busy"],
      [new TypeError("Cannot read it"), "failed"],
    ] as const
  ) {
    const { observed, told } = stage(failure);
    const options = { serverSideApply: true };
    await assert.rejects(observed.recreate(workload, wanted, options), failure);
    assert.deepEqual(told, [`Deployment ${word}`]);
  }
});
