import assert from "node:assert/strict";
import { bareContainer, MI, NOW_MS } from "../../tests/fixtures/rightsizing_facts.ts";
import type { Resources } from "../api/pod.ts";
import { wantedOf } from "./guards/wanted_resources.ts";
import { afterInPlace, afterRecreate, lookAtTemplate, rememberedOf } from "./template_memory.ts";
import type { TemplateMemory } from "./workload_record.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const HOUR_MS = 3_600_000;
const AUTHOR = { requestCPU: 100, requestMemory: 64 * MI };
const WANTED = wantedOf([{ container: "app", resource: "cpu", pair: { request: 180 } }]);
const WRITTEN = { ...AUTHOR, requestCPU: 180 };

/** The memory of `app` after looks at templates that say this, an hour apart, and what was written. */
function after(...steps: readonly (Resources | "write")[]): TemplateMemory | undefined {
  let remembered: readonly TemplateMemory[] = [];
  steps.forEach((step, hour) => {
    const nowMs = NOW_MS + hour * HOUR_MS;
    remembered = step === "write"
      ? afterRecreate(remembered, { wanted: WANTED, nowMs })
      : lookAtTemplate(remembered, { containers: [bareContainer("app", step)], nowMs });
  });
  return remembered[0];
}

test("lookAtTemplate() keeps the time of an author's edit, of that resource alone", () => {
  assert.deepEqual(after(AUTHOR, AUTHOR)?.editedAtMs, {});
  const edited = after(AUTHOR, { ...AUTHOR, limitMemory: 4096 * MI }, {
    ...AUTHOR,
    limitMemory: 4096 * MI,
  });
  assert.deepEqual(edited?.editedAtMs, { memory: NOW_MS + HOUR_MS });
  assert.deepEqual(edited?.author, { cpu: 100, memory: 64 * MI, memoryLimit: 4096 * MI });
});

test("lookAtTemplate() takes neither what was written over it nor its undoing for an edit", () => {
  assert.deepEqual(after(AUTHOR, "write", WRITTEN)?.editedAtMs, {});
  const back = after(AUTHOR, "write", WRITTEN, AUTHOR);
  assert.deepEqual(back, {
    container: "app",
    author: { cpu: 100, memory: 64 * MI },
    editedAtMs: {},
    written: {
      amounts: { cpu: 180 },
      atMs: NOW_MS + HOUR_MS,
      takenBackAtMs: NOW_MS + 3 * HOUR_MS,
      times: 1,
    },
  });
  const third = after(AUTHOR, "write", WRITTEN, { ...AUTHOR, requestCPU: 300 });
  assert.deepEqual(third?.editedAtMs, { cpu: NOW_MS + 3 * HOUR_MS });
  assert.equal(third?.written, undefined);
});

test("lookAtTemplate() counts what is taken back soon, again and again", () => {
  const back = (...steps: readonly (Resources | "write")[]): number | undefined =>
    after(AUTHOR, "write", AUTHOR, ...steps)?.written?.times;
  assert.equal(back(AUTHOR), 1);
  assert.equal(back("write", WRITTEN), 1);
  assert.equal(back("write", AUTHOR, "write", AUTHOR), 3);
  // It has stood for a day: no tool has healed it.
  const day = Array.from({ length: 24 }, () => WRITTEN);
  assert.equal(back("write", ...day, AUTHOR), 1);
});

test("lookAtTemplate() tells no time that is to come, when the clock was set back", () => {
  const [ahead] = lookAtTemplate(
    [{ container: "app", author: { cpu: 1 }, editedAtMs: { cpu: NOW_MS + HOUR_MS } }],
    { containers: [bareContainer("app", { requestCPU: 1 })], nowMs: NOW_MS },
  );
  assert.deepEqual(ahead?.editedAtMs, { cpu: NOW_MS });
});

test("afterInPlace() takes what stands in the template for the author's from then on", () => {
  const known = after(AUTHOR, "write", WRITTEN);
  assert.ok(known !== undefined);
  const containers = [bareContainer("app", WRITTEN)];
  const remembered = afterInPlace([known], containers);
  const author = { cpu: 180, memory: 64 * MI };
  assert.deepEqual(remembered, [{ container: "app", author, editedAtMs: {} }]);
  assert.deepEqual(lookAtTemplate(remembered, { containers, nowMs: NOW_MS }), remembered);
});

test("rememberedOf() knows nothing of another workload of the name, and reads older records", () => {
  const template = [{ container: "app", author: { cpu: 100 }, editedAtMs: {} }];
  const record = { uid: "one", template, inForce: [] };
  assert.deepEqual(rememberedOf(record, "one"), template);
  assert.deepEqual(rememberedOf(record, "other"), []);
  assert.deepEqual(rememberedOf(undefined, "one"), []);
  const adoptedOn = { cpu: 180, memory: 64 * MI };
  const older = {
    inForce: [{ container: "app", cpu: 180, adoptedOn }],
    method: "Recreate",
    appliedAtMs: NOW_MS,
  } as const;
  const written = { amounts: { cpu: 180 }, atMs: NOW_MS, times: 0 };
  assert.deepEqual(rememberedOf(older, "one"), [
    { container: "app", author: adoptedOn, editedAtMs: {}, written },
  ]);
  const { method: _method, ...inPlace } = older;
  assert.deepEqual(rememberedOf(inPlace, "one"), [
    { container: "app", author: adoptedOn, editedAtMs: {} },
  ]);
});
