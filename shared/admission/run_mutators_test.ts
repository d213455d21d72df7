import assert from "node:assert/strict";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import { settleVirtually } from "../../tests/contract/support/settle_virtually.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import type { AdmissionRequest } from "./admission_review.ts";
import type { JSONPatchOperation } from "./json_patch.ts";
import { type Mutation, type Mutator, type MutatorsOutcome, runMutators } from "./run_mutators.ts";

const REQUEST: AdmissionRequest = {
  ...{ uid: "u1", kind: "Pod", resource: "pods", operation: "CREATE", namespace: "shop" },
  ...{ name: "", dryRun: false, object: { spec: {} } },
};

const add = (name: string, value: unknown): JSONPatchOperation => ({
  ...{ op: "add", path: `/spec/${name}`, value },
});

/** A mutator that adds its name to the spec; fields as given. */
function adding(name: string, mutation: Partial<Mutation> = {}): Mutator {
  return { name, mutate: () => ({ patch: [add(name, 1)], ...mutation }) };
}

/** The outcome: added paths, failures by mutator, warnings. */
async function run(mutators: readonly Mutator[], { dryRun = false, clock = newClock() } = {}) {
  const running = runMutators({ ...REQUEST, dryRun }, mutators, { clock, withinMs: 100 });
  const outcome: MutatorsOutcome = await settleVirtually(clock, running);
  return {
    ...{ paths: outcome.patch.map(({ path }) => path), warnings: outcome.warnings },
    failures: outcome.failures.map(({ mutator, error }) => `${mutator}: ${error}`),
  };
}

const newClock = () => createVirtualClock({ wallStart: 0 });

pure("runMutators() shows each the object as those before it have left it", async () => {
  const seen: unknown[] = [];
  const { paths, warnings, failures } = await run([
    adding("a", { warnings: ["said"] }),
    { name: "idle", mutate: () => undefined },
    {
      name: "b",
      mutate({ object }) {
        seen.push(object);
        return { patch: [{ op: "replace", path: "/spec/a", value: 2 }] };
      },
    },
  ]);
  assert.deepEqual(seen, [{ spec: { a: 1 } }]);
  assert.deepEqual([paths, warnings, failures], [["/spec/a", "/spec/a"], ["said"], []]);
  assert.deepEqual(REQUEST.object, { spec: {} });
});

pure("runMutators() leaves out one that fails, with all that belongs to it", async () => {
  const circle: unknown[] = [];
  circle.push(circle);
  let remembered = 0;
  const wrong = (...patch: readonly JSONPatchOperation[]): () => Mutation => () => ({
    ...{ patch, warnings: ["wrong says so"], remember: () => remembered++ },
  });
  const fail = (): never => {
    throw new RangeError("boom");
  };
  const rows: readonly (readonly [Mutator["mutate"], RegExp])[] = [
    [fail, /^wrong: RangeError: boom$/],
    [() => Promise.reject(new RangeError("bang")), /^wrong: RangeError: bang$/],
    [wrong(add("half", 1), { op: "remove", path: "/spec/none" }), /none/],
    ...[1n, circle, undefined, () => 1]
      .map((value) => [wrong(add("half", 1), add("x", value)), /^wrong: /] as const),
  ];
  for (const [mutate, message] of rows) {
    const mutator = { name: "wrong", mutate };
    const { paths, failures, warnings } = await run([adding("a"), mutator, adding("b")]);
    assert.deepEqual([paths, failures.length, remembered], [["/spec/a", "/spec/b"], 1, 0]);
    assert.match(failures[0] ?? "", message);
    assert.match(warnings.join(), /^wrong failed/);
    assert.doesNotMatch(warnings.join(), /boom|bang|says so/);
  }
});

pure("runMutators() waits for all of them together no longer than it may", async () => {
  const clock = newClock();
  const aborted: string[] = [];
  let remembered = 0;
  const slow = (name: string): Mutator => ({
    name,
    async mutate(_request, signal) {
      await clock.sleep(60);
      if (signal.aborted) aborted.push(name);
      return { patch: [], warnings: [name], remember: () => remembered++ };
    },
  });
  const mutators = [slow("first"), slow("second"), adding("a")];
  const { warnings, failures } = await run(mutators, { clock });
  assert.match(failures.join(), /^second: .* in time$/);
  assert.equal(warnings[0], "first");
  await clock.runUntil(1000);
  assert.deepEqual([aborted, remembered], [["second"], 1]);
});

pure("runMutators() keeps the patch where remembering fails", async () => {
  let remembered = 0;
  const mutators = [adding("a", { remember: () => remembered++ })];
  assert.deepEqual((await run(mutators, { dryRun: true })).paths, ["/spec/a"]);
  assert.equal(remembered, 0);
  assert.deepEqual((await run(mutators)).paths, ["/spec/a"]);
  assert.equal(remembered, 1);
  const remember = (): never => {
    throw new RangeError("full");
  };
  const { paths, failures } = await run([adding("a", { remember }), adding("b")]);
  assert.deepEqual([paths, failures], [["/spec/a", "/spec/b"], ["a: RangeError: full"]]);
});
