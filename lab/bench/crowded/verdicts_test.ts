import assert from "node:assert/strict";
import { EXAMPLE } from "./example_result.ts";
import { FORESEEABLE } from "./refusal_kind.ts";
import { type CrowdResult, verdictsOf } from "./verdicts.ts";

/** The findings of goals that are not met. */
function missed(change: Partial<CrowdResult>): string[] {
  return verdictsOf({ ...EXAMPLE, ...change }).filter(({ met }) => !met).map(({ found }) => found);
}

function withAnswer(change: Partial<CrowdResult["answers"][number]>): Partial<CrowdResult> {
  const [first] = EXAMPLE.answers;
  assert.ok(first !== undefined);
  return { answers: [...EXAMPLE.answers, { ...first, ...change }] };
}

Deno.test("verdictsOf() has nothing against conflicts, and refusals that no check can foresee", () => {
  assert.deepEqual(missed({}), []);
  const denied = withAnswer({ kind: "policy" });
  assert.deepEqual(missed(denied), []);
  assert.match(
    verdictsOf({ ...EXAMPLE, ...denied })[2]?.found ?? "",
    /^0 of 40 .*and 1 that none could$/,
  );
  const outcomes = [{ what: "refused AdmissionDenied", count: 2 }];
  assert.deepEqual(missed({ outcomes }), []);
});

Deno.test("verdictsOf() finds a market without a change in the run, and a rule that never set a bound", () => {
  assert.deepEqual(missed({ answers: [] }), ["0.0 changes a minute"]);
  const early = EXAMPLE.answers.map((answer) => ({ ...answer, atS: -1 }));
  assert.deepEqual(missed({ answers: early }), ["0.0 changes a minute"]);
  const bounds = EXAMPLE.bounds.filter(({ what }) => what !== "LimitRange");
  assert.deepEqual(missed({ bounds }), ["never LimitRange"]);
});

Deno.test("verdictsOf() finds each kind of refusal that a check could have foreseen, in log or counters", () => {
  for (const kind of FORESEEABLE) {
    assert.match(missed(withAnswer({ kind }))[0] ?? "", /^1 of 40 resizes/);
  }
  const outcomes = [{ what: "refused QuotaExceeded", count: 2 }];
  assert.match(missed({ outcomes })[0] ?? "", /^0 of 39 .*controllers.* 2$/);
});

Deno.test("verdictsOf() finds a second in which limits or counts were over a quota, and a run without samples", () => {
  const [, last] = EXAMPLE.quotas;
  assert.ok(last !== undefined);
  for (const change of [{ limits: 1001 }, { used: 1001 }, { usedRequests: 401 }]) {
    assert.match(missed({ quotas: [{ ...last, ...change }] })[0] ?? "", /^1 of 1 .*shop at 1 s: /);
  }
  assert.equal(missed({ quotas: [] }).length, 1);
});

Deno.test("verdictsOf() finds changed objects, and names three of them", () => {
  const differences = ["a", "b", "c", "d"];
  assert.deepEqual(missed({ objects: { ...EXAMPLE.objects, differences } }), [
    "4 differences: a; b; c; and 1 more",
  ]);
});

Deno.test("verdictsOf() finds a resize of the opted-out pod, and another spec", () => {
  assert.equal(missed({ objects: { ...EXAMPLE.objects, isOptedOutSame: false } }).length, 1);
  assert.match(missed(withAnswer({ isOfOptedOut: true }))[0] ?? "", /^the same, 1 resizes /);
});

Deno.test("verdictsOf() finds a lowered limit of the pod that is never Ready, in spec or kernel", () => {
  const fall = { atS: 2, from: 300, to: 200 };
  const { lowerings } = EXAMPLE;
  assert.deepEqual(missed({ lowerings: { ...lowerings, spec: [fall] } }), [
    "1 times: 300 → 200 m at 2.0 s (spec)",
  ]);
  assert.equal(missed({ lowerings: { ...lowerings, kernel: [fall] } }).length, 1);
});
