import assert from "node:assert/strict";
import { MI, NOW_MS } from "../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import { containerTemplateSchema } from "../api/recommendation_report.ts";
import {
  amountsOf,
  millisecondsOf,
  templateOf,
  timeText,
  writtenAmounts,
  writtenTemplate,
} from "./workload_record.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

test("writtenAmounts() writes what there is as quantities, and amountsOf() reads it again", () => {
  const amounts = { cpu: 250, memory: 2 ** 26, cpuLimit: 1000, memoryLimit: 100 };
  const written = { cpu: "250m", memory: "64Mi", cpuLimit: "1", memoryLimit: "100" };
  assert.deepEqual(writtenAmounts(amounts), written);
  assert.deepEqual(amountsOf(written), amounts);
  assert.deepEqual([writtenAmounts({}), amountsOf({})], [{}, {}]);
});

test("timeText() writes a time that millisecondsOf() reads, which throws at another text", () => {
  assert.equal(timeText(1), "1970-01-01T00:00:00.001Z");
  assert.equal(millisecondsOf(timeText(1)), 1);
  assert.throws(() => millisecondsOf("soon"), /^SyntaxError: .*soon/);
});

const at = new Date(NOW_MS).toISOString();

test("writtenTemplate() tells of each resource apart, and templateOf() reads it again", () => {
  const memory = {
    container: "app",
    author: { cpu: 100, memoryLimit: 64 * MI },
    editedAtMs: { cpu: NOW_MS },
    oldBeforeMs: { cpu: NOW_MS },
    written: {
      memory: {
        pair: { request: 96 * MI, limit: 112 * MI },
        atMs: NOW_MS,
        takenBackAtMs: NOW_MS,
        times: 2,
      },
    },
  };
  const told = writtenTemplate(memory);
  assert.deepEqual(told, {
    container: "app",
    author: { cpu: "100m", memoryLimit: "64Mi" },
    cpuEdited: at,
    cpuOldBefore: at,
    memoryWritten: { request: "96Mi", limit: "112Mi", at, takenBack: at, times: 2 },
  });
  assert.deepEqual(templateOf(containerTemplateSchema.parse(told)), memory);
  const blank = { container: "app", author: {}, editedAtMs: {} };
  assert.deepEqual(templateOf(writtenTemplate(blank)), blank);
});

test("templateOf() names a time and a quantity that are none", () => {
  const stored = { container: "app", author: {} };
  assert.throws(() => templateOf({ ...stored, cpuEdited: "soon" }), SyntaxError);
  const cpuWritten = { request: "much", at, times: 0 };
  assert.throws(() => templateOf({ ...stored, cpuWritten }), SyntaxError);
});
