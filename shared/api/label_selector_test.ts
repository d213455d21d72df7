import { pure } from "../../tests/fixtures/pure.ts";
import fc from "fast-check";
import assert from "node:assert/strict";
import { cases } from "../../tests/fixtures/cases.ts";
import { type LabelRequirement, labelsMatch } from "./label_selector.ts";

function term(operator: LabelRequirement["operator"], values: string[] = []): LabelRequirement {
  return { key: "tier", operator, values };
}

function matches(labels: Record<string, string>, ...matchExpressions: LabelRequirement[]): boolean {
  return labelsMatch(labels, { matchLabels: {}, matchExpressions });
}

pure("labelsMatch() holds for everything without terms", () => {
  assert.equal(matches({}), true);
  assert.equal(matches({ tier: "web" }), true);
});

pure("labelsMatch() reads each operator as Kubernetes does, a missing label too", () => {
  const web = { tier: "web" };
  const none = {};
  const empty = { tier: "" };
  const rows: readonly [LabelRequirement, boolean, boolean, boolean][] = [
    [term("In", ["web", "db"]), true, false, false],
    [term("In", ["db"]), false, false, false],
    [term("In", [""]), false, false, true],
    [term("NotIn", ["web", "db"]), false, true, true],
    [term("NotIn", ["db"]), true, true, true],
    [term("Exists"), true, false, true],
    [term("DoesNotExist"), false, true, false],
  ];
  for (const [one, forWeb, forNone, forEmpty] of rows) {
    const found = [matches(web, one), matches(none, one), matches(empty, one)];
    assert.deepEqual(found, [forWeb, forNone, forEmpty], JSON.stringify(one));
  }
});

pure("labelsMatch() wants all terms, those of matchLabels too", () => {
  const selector = { matchLabels: { app: "shop" }, matchExpressions: [term("In", ["web"])] };
  assert.equal(labelsMatch({ app: "shop", tier: "web" }, selector), true);
  assert.equal(labelsMatch({ app: "shop", tier: "db" }, selector), false);
  assert.equal(labelsMatch({ app: "other", tier: "web" }, selector), false);
  assert.equal(labelsMatch({ tier: "web" }, selector), false);
});

pure("labelsMatch() takes no label for there that every object inherits", () => {
  for (const key of ["constructor", "toString", "__proto__"]) {
    const exists = { key, operator: "Exists", values: [] } as const;
    assert.equal(labelsMatch({}, { matchLabels: {}, matchExpressions: [exists] }), false, key);
  }
});

pure("labelsMatch() is the negation for NotIn of In, and for DoesNotExist of Exists", () => {
  const value = fc.constantFrom("web", "db", "", "queue");
  const labels = fc.dictionary(fc.constantFrom("tier", "app"), value);
  fc.assert(
    fc.property(labels, fc.array(value, { minLength: 1 }), (own, values) => {
      assert.equal(matches(own, term("In", values)), !matches(own, term("NotIn", values)));
      assert.equal(matches(own, term("Exists")), !matches(own, term("DoesNotExist")));
      // Whatever is in some values exists.
      if (matches(own, term("In", values))) assert.ok(matches(own, term("Exists")));
    }),
    cases(5),
  );
});
