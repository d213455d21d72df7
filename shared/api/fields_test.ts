import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import * as z from "zod";
import { patternRule, ruled } from "./fields.ts";

const even = ruled(z.object({ count: z.int(), half: z.int().optional() }), {
  description: "An even number.",
  maxProperties: 2,
  rules: [{
    rule: "self.count % 2 == 0",
    message: "must be even",
    field: "count",
    holds: ({ count }) => count % 2 === 0,
  }, {
    rule: "!has(self.half) || self.half * 2 == self.count",
    message: "must fit",
    holds: ({ count, half }) => half === undefined || 2 * half === count,
  }],
});

pure("ruled() says each rule to the server, with the field that is to blame", () => {
  const said = z.toJSONSchema(even.default({ count: 0 }), { target: "openapi-3.0", io: "input" });
  assert.partialDeepStrictEqual(said, {
    default: { count: 0 },
    description: "An even number.",
    maxProperties: 2,
    "x-kubernetes-validations": [
      { rule: "self.count % 2 == 0", message: "must be even", fieldPath: ".count" },
      { rule: "!has(self.half) || self.half * 2 == self.count", message: "must fit" },
    ],
  });
});

pure("ruled() refuses by the same rules, each by its field", () => {
  const faults = (value: unknown): unknown =>
    even.safeParse(value).error?.issues.map(({ path, message }) => [path, message]);
  assert.equal(faults({ count: 4, half: 2 }), undefined);
  assert.deepEqual(faults({ count: 3 }), [[["count"], "must be even"]]);
  assert.deepEqual(faults({ count: 3, half: 1 }), [[["count"], "must be even"], [[], "must fit"]]);
});

pure("patternRule() holds for what the pattern matches, and quotes it for CEL", () => {
  const rule = patternRule("^\\d+\\.$", "must be digits and a point");
  assert.equal(rule.rule, "self.matches(r'^\\d+\\.$')");
  assert.deepEqual([rule.holds("12."), rule.holds("12"), rule.holds("12.\n")], [
    true,
    false,
    false,
  ]);
});
