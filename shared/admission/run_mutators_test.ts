import assert from "node:assert/strict";
import { settleVirtually } from "../../tests/contract/support/settle_virtually.ts";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import type { AdmissionRequest } from "./admission_review.ts";
import type { Mutation, Mutator } from "./mutator.ts";
import { type MutatorsOutcome, runMutators } from "./run_mutators.ts";

const REQUEST: AdmissionRequest = {
  uid: "u1",
  kind: "Pod",
  resource: "pods",
  operation: "CREATE",
  namespace: "shop",
  name: "",
  dryRun: false,
  object: { spec: {} },
};

function adding(name: string, mutation: Partial<Mutation> = {}): Mutator {
  const patch = [{ op: "add", path: `/spec/${name}`, value: 1 }] as const;
  return { name, mutate: () => ({ patch, ...mutation }) };
}

function run(
  mutators: readonly Mutator[],
  request: Partial<AdmissionRequest> = {},
): Promise<MutatorsOutcome> {
  const clock = createVirtualClock({ wallStart: 0 });
  const running = runMutators({ ...REQUEST, ...request }, mutators, { clock, withinMs: 100 });
  return settleVirtually(clock, running);
}

Deno.test("runMutators() shows each the object as those before it have left it", async () => {
  const seen: unknown[] = [];
  const { patch, warnings, failures } = await run([
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
  assert.deepEqual(patch.map(({ op, path }) => `${op} ${path}`), [
    "add /spec/a",
    "replace /spec/a",
  ]);
  assert.deepEqual([warnings, failures], [["said"], []]);
  assert.deepEqual(REQUEST.object, { spec: {} });
});

Deno.test("runMutators() goes on without one that throws, and says that it did", async () => {
  const { patch, warnings, failures } = await run([
    {
      name: "broken",
      mutate() {
        throw new RangeError("boom");
      },
    },
    { name: "rejects", mutate: () => Promise.reject(new RangeError("bang")) },
    adding("a"),
  ]);
  assert.deepEqual(patch.map(({ path }) => path), ["/spec/a"]);
  assert.deepEqual(failures, [
    { mutator: "broken", error: "RangeError: boom" },
    { mutator: "rejects", error: "RangeError: bang" },
  ]);
  assert.equal(warnings.length, 2);
  assert.match(warnings[0] ?? "", /^broken failed/);
  assert.doesNotMatch(warnings.join(), /boom|bang/);
});

Deno.test("runMutators() leaves out a patch that can't be applied, with all that belongs to it", async () => {
  let remembered = 0;
  const outcome = await run([
    adding("a"),
    {
      name: "wrong",
      mutate: () => ({
        patch: [
          { op: "add", path: "/spec/half", value: 1 },
          { op: "remove", path: "/spec/none" },
        ],
        warnings: ["wrong says so"],
        remember: () => remembered++,
      }),
    },
  ]);
  assert.deepEqual(outcome.patch.map(({ path }) => path), ["/spec/a"]);
  assert.deepEqual(outcome.failures.map(({ mutator }) => mutator), ["wrong"]);
  assert.ok(!outcome.warnings.includes("wrong says so"));
  assert.equal(remembered, 0);
});

Deno.test("runMutators() leaves out a patch that is no JSON, and nothing else", async () => {
  const circle: unknown[] = [];
  circle.push(circle);
  for (const value of [1n, circle, undefined, () => 1]) {
    const wrong: Mutator = {
      name: "wrong",
      mutate: () => ({ patch: [{ op: "add", path: "/spec/x", value }] }),
    };
    const { patch, failures } = await run([wrong, adding("a")]);
    assert.deepEqual(patch, [{ op: "add", path: "/spec/a", value: 1 }]);
    assert.deepEqual(failures.map(({ mutator }) => mutator), ["wrong"]);
  }
});

Deno.test("runMutators() waits for all of them together no longer than it was reported to", async () => {
  const clock = createVirtualClock({ wallStart: 0 });
  const aborted: string[] = [];
  let remembered = 0;
  const slow = (name: string, ms: number): Mutator => ({
    name,
    async mutate(_request, signal) {
      await clock.sleep(ms);
      if (signal.aborted) aborted.push(name);
      return { patch: [], warnings: [name], remember: () => remembered++ };
    },
  });
  const mutators = [slow("first", 60), slow("second", 60), adding("a")];
  const running = runMutators(REQUEST, mutators, { clock, withinMs: 100 });
  const { warnings, failures } = await settleVirtually(clock, running);
  assert.deepEqual(failures.map(({ mutator }) => mutator), ["second"]);
  assert.match(failures[0]?.error ?? "", /in time/);
  assert.equal(warnings[0], "first");
  await clock.runUntil(1000);
  assert.deepEqual([aborted, remembered], [["second"], 1]);
});

Deno.test("runMutators() lets nothing be remembered of a dry run, and all of another one", async () => {
  let remembered = 0;
  const mutator = adding("a", { remember: () => remembered++ });
  assert.equal((await run([mutator], { dryRun: true })).patch.length, 1);
  assert.equal(remembered, 0);
  assert.equal((await run([mutator], { dryRun: false })).patch.length, 1);
  assert.equal(remembered, 1);
});

Deno.test("runMutators() reports one that can't remember, and keeps its patch", async () => {
  const remember = (): void => {
    throw new RangeError("full");
  };
  const { patch, failures } = await run([adding("a", { remember }), adding("b")]);
  assert.deepEqual(patch.map(({ path }) => path), ["/spec/a", "/spec/b"]);
  assert.deepEqual(failures, [{ mutator: "a", error: "RangeError: full" }]);
});
