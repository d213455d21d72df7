import assert from "node:assert/strict";
import type { CrowdResult } from "./crowd_result.ts";
import { EXAMPLE } from "./example_result.ts";
import { verdictsOf } from "./verdicts.ts";

/** What is found where a goal is not met. */
function missed(change: Partial<CrowdResult>): string[] {
  return verdictsOf({ ...EXAMPLE, ...change }).filter(({ met }) => !met).map(({ found }) => found);
}

function refusedBy(kind: string): Partial<CrowdResult> {
  const refusal = { atS: 1, user: "c", pod: "web", code: 403, kind, message: "no" };
  return { writes: { ...EXAMPLE.writes, notAccepted: [refusal] } };
}

Deno.test("verdictsOf() finds a market that does nothing, and one that does something while it is off", () => {
  const idle = { ...EXAMPLE.figures, changesPerMinute: 0 };
  assert.deepEqual(missed({ figures: idle }), ["0.0 changes a minute"]);
  assert.deepEqual(missed({ law: "without" }), ["38.0 changes a minute"]);
  assert.deepEqual(missed({ law: "without", figures: idle }), []);
});

Deno.test("verdictsOf() finds a rule that never set a bound, while the market is on", () => {
  const bounds = (EXAMPLE.bounds ?? []).filter(({ what }) => what !== "LimitRange");
  assert.deepEqual(missed({ bounds }), ["never LimitRange"]);
  const idle = { ...EXAMPLE.figures, changesPerMinute: 0 };
  assert.deepEqual(missed({ law: "without", figures: idle, bounds: [] }), []);
});

Deno.test("verdictsOf() has nothing against conflicts, and against refusals that no check can foresee", () => {
  assert.deepEqual(missed({}), []);
  assert.deepEqual(missed(refusedBy("policy")), []);
  assert.match(
    verdictsOf({ ...EXAMPLE, ...refusedBy("policy") })[2]?.found ?? "",
    /and 1 that none could$/,
  );
});

Deno.test("verdictsOf() finds each kind of refusal that a check could have foreseen", () => {
  for (const kind of ["quota", "LimitRange", "QoS", "NodeCapacity", "invalid"]) {
    assert.match(missed(refusedBy(kind))[0] ?? "", /^1 of 41 resizes/);
  }
});

Deno.test("verdictsOf() believes the controllers where they count refusals that the audit log has not", () => {
  const outcomes = [{ what: "refused QuotaExceeded", count: 2 }];
  const counted = missed({ writes: { ...EXAMPLE.writes, outcomes } });
  assert.match(counted.join("\n"), /^0 of 41 .*controllers.* 2$/);
  const denied = [{ what: "refused AdmissionDenied", count: 2 }];
  assert.deepEqual(missed({ writes: { ...EXAMPLE.writes, outcomes: denied } }), []);
});

Deno.test("verdictsOf() finds a second in which limits or counts were over a quota, and a run without samples", () => {
  const [shop] = EXAMPLE.quotas;
  assert.ok(shop !== undefined);
  const over = (change: Partial<typeof shop>) => missed({ quotas: [{ ...shop, ...change }] });
  assert.match(
    over({ limits: [900, 1001] }).join("\n"),
    /^1 of 2 samples .*shop at 1 s: .* 1001,.* 1000,.* 1000 m$/,
  );
  assert.equal(over({ used: [1001, 1000] }).length, 1);
  assert.equal(over({ usedRequests: [300, 401] }).length, 1);
  assert.equal(missed({ quotas: [{ ...shop, limits: [] }] }).length, 1);
});

Deno.test("verdictsOf() finds changed objects, and names three of them", () => {
  const differences = ["a", "b", "c", "d"];
  assert.deepEqual(missed({ objects: { ...EXAMPLE.objects, differences } }), [
    "4 differences: a; b; c; and 1 more",
  ]);
});

Deno.test("verdictsOf() finds an opted-out pod with another spec, and one that was only asked for", () => {
  assert.equal(missed({ objects: { ...EXAMPLE.objects, optedOutSame: false } }).length, 1);
  const asked = missed({ writes: { ...EXAMPLE.writes, ofOptedOut: 2 } });
  assert.match(asked.join("\n"), /^the same, 2 resizes /);
});

Deno.test("verdictsOf() finds a lowered limit of the pod that is never Ready, in spec or kernel", () => {
  const fall = { atS: 2, from: 300, to: 200 };
  const { neverReady } = EXAMPLE;
  assert.deepEqual(missed({ neverReady: { ...neverReady, spec: [fall] } }), [
    "1 times: 300 → 200 m at 2.0 s (spec)",
  ]);
  assert.equal(missed({ neverReady: { ...neverReady, kernel: [fall] } }).length, 1);
});
