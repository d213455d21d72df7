import assert from "node:assert/strict";
import { bareContainer, MI, NOW_MS } from "../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import type { Resources } from "../api/pod.ts";
import { type PairEntry, wantedOf } from "../resize/inputs/resources.ts";
import {
  afterRecreate,
  type AppliedRecord,
  type ObservedTemplate,
  observeTemplate,
  type RememberedRecord,
  withLateWrites,
} from "./template_memory.ts";
import type { TemplateMemory } from "./workload_record.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const HOUR_MS = 3_600_000;
const AUTHOR = { requests: { cpu: 100, memory: 64 * MI }, limits: {} };
const CPU: PairEntry = { container: "app", resource: "cpu", pair: { request: 180 } };
const MEMORY: PairEntry = { container: "app", resource: "memory", pair: { request: 96 * MI } };
const WRITTEN = { ...AUTHOR, requests: { ...AUTHOR.requests, cpu: 180 } };

/** A look at a template; whatever was written and when, nobody knows, and no pod is of an older one. */
function lookAt(
  resources: Partial<Resources>,
  fields: Partial<ObservedTemplate> = {},
): ObservedTemplate {
  return {
    uid: "one",
    containers: [bareContainer("app", resources)],
    nowMs: NOW_MS,
    isOldThere: () => false,
    ...fields,
  };
}

function recordOf(
  template: readonly TemplateMemory[],
  fields: Partial<RememberedRecord> = {},
): RememberedRecord {
  return { uid: "one", template, ...fields };
}

type Step = Resources | readonly PairEntry[];

/** The memory of `app` after looks at templates that say this, an hour apart, and what was written. */
function after(...steps: readonly Step[]): TemplateMemory | undefined {
  let remembered: readonly TemplateMemory[] = [];
  let containers = [bareContainer("app", {})];
  steps.forEach((step, hour) => {
    const nowMs = NOW_MS + hour * HOUR_MS;
    if (Array.isArray(step)) {
      remembered = afterRecreate(remembered, { wanted: wantedOf(step), containers, atMs: nowMs });
      return;
    }
    containers = [bareContainer("app", step as Resources)];
    const record = hour === 0 ? undefined : recordOf(remembered);
    const seen = observeTemplate(record, lookAt({}, { containers, nowMs }));
    assert.deepEqual(seen.late, []);
    remembered = seen.remembered;
  });
  return remembered[0];
}

test("observeTemplate() keeps the time of an author's edit, of that resource alone", () => {
  assert.deepEqual(after(AUTHOR, AUTHOR)?.editedAtMs, {});
  const limited = { ...AUTHOR, limits: { ...AUTHOR.limits, memory: 4096 * MI } };
  const edited = after(AUTHOR, limited, limited);
  assert.deepEqual(edited?.editedAtMs, { memory: NOW_MS + HOUR_MS });
  assert.deepEqual(edited?.author, { cpu: 100, memory: 64 * MI, memoryLimit: 4096 * MI });
  // What is taken out is an edit, too.
  assert.deepEqual(after(limited, AUTHOR)?.editedAtMs, { memory: NOW_MS + HOUR_MS });
});

test("observeTemplate() takes neither what was written over it nor its undoing for an edit", () => {
  assert.deepEqual(after(AUTHOR, [CPU], WRITTEN)?.editedAtMs, {});
  const back = after(AUTHOR, [CPU], WRITTEN, AUTHOR);
  assert.deepEqual(back, {
    container: "app",
    author: { cpu: 100, memory: 64 * MI },
    editedAtMs: {},
    written: {
      cpu: {
        pair: { request: 180 },
        atMs: NOW_MS + HOUR_MS,
        takenBackAtMs: NOW_MS + 3 * HOUR_MS,
        times: 1,
      },
    },
  });
  const third = after(AUTHOR, [CPU], WRITTEN, {
    ...AUTHOR,
    requests: { ...AUTHOR.requests, cpu: 300 },
  });
  assert.deepEqual(third?.editedAtMs, { cpu: NOW_MS + 3 * HOUR_MS });
  assert.equal(third?.written, undefined);
});

test("observeTemplate() does not take a limit that remains of a write for an edit", () => {
  const both = { ...CPU, pair: { request: 180, limit: 200 } };
  const applied = after(AUTHOR, [both], { ...AUTHOR, limits: { ...AUTHOR.limits, cpu: 200 } });
  assert.deepEqual(applied?.editedAtMs, {});
  assert.deepEqual(applied.author, { cpu: 100, memory: 64 * MI });
  const { pair, takenBackAtMs } = applied.written?.cpu ?? {};
  assert.deepEqual([pair, takenBackAtMs], [both.pair, NOW_MS + 2 * HOUR_MS]);
  // Another request beside it is his, and the limit is not.
  const edited = after(AUTHOR, [both], {
    ...AUTHOR,
    requests: { ...AUTHOR.requests, cpu: 150 },
    limits: { ...AUTHOR.limits, cpu: 200 },
  });
  assert.deepEqual(edited?.author, { cpu: 150, memory: 64 * MI });
  assert.deepEqual(edited.written?.cpu, {
    pair: { limit: 200 },
    atMs: NOW_MS + HOUR_MS,
    times: 0,
  });
});

test("observeTemplate() counts what is taken back soon, again and again", () => {
  const back = (...steps: readonly Step[]): number | undefined =>
    after(AUTHOR, [CPU], AUTHOR, ...steps)?.written?.cpu?.times;
  assert.equal(back(AUTHOR), 1);
  assert.equal(back([CPU], WRITTEN), 1);
  assert.equal(back([CPU], AUTHOR, [CPU], AUTHOR), 3);
  // It has stood for a day: no tool has healed it.
  const day = Array.from({ length: 24 }, () => WRITTEN);
  assert.equal(back([CPU], ...day, AUTHOR), 1);
});

test("afterRecreate() begins nothing anew for the resource that it does not write", () => {
  const back = after(AUTHOR, [CPU, MEMORY], AUTHOR);
  const more = { ...CPU, pair: { request: 360 } };
  const again = after(
    ...[AUTHOR, [CPU, MEMORY], AUTHOR],
    ...[[more], { ...AUTHOR, requests: { ...AUTHOR.requests, cpu: 360 } }, [CPU], WRITTEN],
  );
  assert.equal(back?.written?.memory?.times, 1);
  assert.deepEqual(again?.written?.memory, back.written.memory);
  assert.deepEqual(again?.written?.cpu, {
    pair: { request: 180 },
    atMs: NOW_MS + 5 * HOUR_MS,
    times: 1,
  });
});

test("afterRecreate() keeps what stands of what was written before, and nothing else", () => {
  const both = { ...CPU, pair: { request: 180, limit: 200 } };
  const more = { ...CPU, pair: { request: 190 } };
  const stands = after(AUTHOR, [both], {
    ...AUTHOR,
    requests: { ...AUTHOR.requests, cpu: 180 },
    limits: { ...AUTHOR.limits, cpu: 200 },
  }, [more]);
  assert.deepEqual(stands?.written?.cpu?.pair, { request: 190, limit: 200 });
  const gone = after(AUTHOR, [both], AUTHOR, [more]);
  assert.deepEqual(gone?.written?.cpu?.pair, { request: 190 });
});

test("observeTemplate() reports no time in the future, when the clock was set back", () => {
  const known = { container: "app", author: { cpu: 1 }, editedAtMs: { cpu: NOW_MS + HOUR_MS } };
  const { remembered: [ahead] } = observeTemplate(
    recordOf([known]),
    lookAt({ requests: { cpu: 1 }, limits: {} }),
  );
  assert.deepEqual(ahead?.editedAtMs, { cpu: NOW_MS });
});

test("observeTemplate() goes along with an edit as long as pods from before are there", () => {
  const lookedAtMs = NOW_MS - HOUR_MS;
  const known = { container: "app", author: { cpu: 100, memory: 64 * MI }, editedAtMs: {} };
  const record = recordOf([known], { recommendedAtMs: lookedAtMs });
  const edited = { ...AUTHOR, requests: { ...AUTHOR.requests, cpu: 300 } };
  const asked: number[] = [];
  const see = (before: RememberedRecord, hour: number, isOldThere: boolean) =>
    observeTemplate(
      before,
      lookAt(edited, {
        nowMs: NOW_MS + hour * HOUR_MS,
        isOldThere: (startedBeforeMs) => {
          asked.push(startedBeforeMs);
          return isOldThere;
        },
      }),
    ).remembered;
  const first = see(record, 0, false);
  const [{ editedAtMs, oldBeforeMs } = assert.fail()] = first;
  assert.deepEqual([editedAtMs, oldBeforeMs], [{ cpu: NOW_MS }, { cpu: lookedAtMs }]);
  const second = see(recordOf(first), 30, true);
  const [then = assert.fail()] = second;
  assert.deepEqual(then.editedAtMs, { cpu: NOW_MS + 30 * HOUR_MS });
  assert.deepEqual(then.oldBeforeMs, { cpu: lookedAtMs });
  const [last = assert.fail()] = see(recordOf(second), 31, false);
  assert.deepEqual(last.editedAtMs, { cpu: NOW_MS + 30 * HOUR_MS });
  assert.equal(last.oldBeforeMs, undefined);
  assert.deepEqual(asked, [lookedAtMs, lookedAtMs]);
  // Pods of a later change, of something else, are no matter.
  const [later] = see(recordOf([last]), 40, true);
  assert.deepEqual(later, last);
});

test("observeTemplate() takes what a workload that was made anew has otherwise for an edit", () => {
  const written = { cpu: { pair: { request: 180 }, atMs: NOW_MS - HOUR_MS, times: 3 } };
  const known = {
    container: "app",
    author: { cpu: 100, memory: 64 * MI },
    editedAtMs: { cpu: NOW_MS - HOUR_MS },
    written,
  };
  const anew = (resources: Resources) =>
    observeTemplate(recordOf([known]), lookAt(resources, { uid: "other" })).remembered;
  const { written: _forgotten, ...rest } = known;
  assert.deepEqual(anew(AUTHOR), [rest]);
  // He has taken over what was written for the former one: it is his now.
  assert.deepEqual(anew(WRITTEN), [{ ...rest, author: { cpu: 180, memory: 64 * MI } }]);
  const [edited] = anew({ ...AUTHOR, requests: { ...AUTHOR.requests, memory: 1024 * MI } });
  assert.deepEqual(edited?.editedAtMs, { cpu: NOW_MS - HOUR_MS, memory: NOW_MS });
  assert.deepEqual(edited?.author, { cpu: 100, memory: 1024 * MI });
});

test("observeTemplate() takes for written what the server has as written by us, and reports it", () => {
  const known = {
    container: "app",
    author: { cpu: 100, memory: 64 * MI },
    editedAtMs: {},
    written: { cpu: { pair: { request: 150 }, atMs: NOW_MS - 9 * HOUR_MS, times: 2 } },
  };
  const atMs = NOW_MS - HOUR_MS;
  const written = {
    atMs,
    containers: [{ name: "app", requests: { cpu: 180, memory: 96 * MI }, limits: {} }],
  };
  const { remembered, late } = observeTemplate(recordOf([known]), lookAt(WRITTEN, { written }));
  assert.deepEqual(late, [CPU]);
  assert.deepEqual(remembered, [{
    ...known,
    written: { cpu: { pair: { request: 180 }, atMs, times: 2 } },
  }]);
  // It is known by then.
  const again = observeTemplate(recordOf(remembered), lookAt(WRITTEN, { written }));
  assert.deepEqual(again, { remembered, late: [] });
  // What the record knows nothing of, not even whose it was, is no author's.
  const first = observeTemplate(undefined, lookAt(WRITTEN, { written }));
  assert.deepEqual(first.late, []);
  assert.deepEqual(first.remembered[0]?.author, { memory: 64 * MI });
});

const CPU_LATE = { container: "app", resource: "cpu", pair: { request: 180 } } as const;
const MEMORY_LATE = {
  container: "app",
  resource: "memory",
  pair: { request: 96 * MI },
} as const;
const NOW = [
  bareContainer("app", { requests: { cpu: 180, memory: 96 * MI }, limits: { memory: 128 * MI } }),
];
const BEFORE: AppliedRecord = {
  inForce: [
    {
      container: "app",
      cpu: 120,
      cpuLimit: 150,
      memory: 70 * MI,
      adoptedOn: { cpu: 100, memory: 64 * MI },
    },
    { container: "log", cpu: 10 },
  ],
  appliedAtMs: NOW_MS - 9000,
  method: "InPlace",
};

test("withLateWrites() leaves a record as it is where nothing was written late", () => {
  assert.equal(withLateWrites(BEFORE, { late: [], containers: NOW, nowMs: NOW_MS }), BEFORE);
});

test("withLateWrites() takes them for applied as they are seen, on what stands there", () => {
  const adoptedOn = { cpu: 180, memory: 96 * MI, memoryLimit: 128 * MI };
  const late = [CPU_LATE, MEMORY_LATE];
  const noted = withLateWrites(BEFORE, { late, containers: NOW, nowMs: NOW_MS });
  assert.deepEqual(noted, {
    inForce: [
      { container: "log", cpu: 10 },
      { container: "app", cpu: 180, memory: 96 * MI, adoptedOn },
    ],
    appliedAtMs: NOW_MS,
    method: "Recreate",
  });
  const first = withLateWrites({ inForce: [] }, { late, containers: NOW, nowMs: NOW_MS });
  assert.deepEqual(first.inForce, [{ container: "app", cpu: 180, memory: 96 * MI, adoptedOn }]);
});

test("withLateWrites() leaves the other resource on what it was adopted on", () => {
  const { inForce } = withLateWrites(BEFORE, {
    late: [CPU_LATE],
    containers: NOW,
    nowMs: NOW_MS,
  });
  assert.deepEqual(inForce.at(-1), {
    container: "app",
    cpu: 180,
    memory: 70 * MI,
    adoptedOn: { cpu: 180, memory: 64 * MI },
  });
});
