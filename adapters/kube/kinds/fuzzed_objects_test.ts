/** Custom resources with odd fields: each reader names what it can't read. */
import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import type { ApiObject } from "../../../shared/api/object.ts";
import { cases } from "../../../tests/fixtures/cases.ts";
import { mutatedJSON } from "../../../tests/fixtures/mutated_json.ts";
import { RAW_OBJECTS } from "../../../tests/fixtures/raw_objects.ts";
import { parseAllocation } from "./allocations.ts";
import { parseVerticalPodAutoscaler } from "./autoscalers.ts";
import { parseOptimizationPolicy, parseRecommendationReport } from "./optimization_policies.ts";

/** Readers of kinds of which the server may have another schema than this version's. */
const PARSERS = {
  VerticalPodAutoscaler: parseVerticalPodAutoscaler,
  PodAllocation: parseAllocation,
  OptimizationPolicy: parseOptimizationPolicy,
  RecommendationReport: parseRecommendationReport,
} satisfies Readonly<Partial<Record<keyof typeof RAW_OBJECTS, (raw: unknown) => ApiObject>>>;

/** Ranges of members; all others are counts or millicores. */
const RANGES: Readonly<Record<string, readonly [least: number, most: number]>> = {
  safetyFactor: [1, 10],
  limitMultipliers: [1, 10],
  ...Object.fromEntries(
    ["price", "demand", "need", "credit", "weight"].map((name) => [name, [0, Number.MAX_VALUE]]),
  ),
};
/** The times that a Date can hold, ms. */
const LAST_MS = 8.64e15;

/** Fails unless each number within is finite and in the range of its member. */
function assertInRange(value: unknown, name = "object"): void {
  if (typeof value === "number") {
    const [least, most] = RANGES[name] ??
      (name.endsWith("Ms") ? [-LAST_MS, LAST_MS] : [0, Number.MAX_SAFE_INTEGER]);
    assert.ok(value >= least && value <= most, `${name} is ${value}`);
    if (!(name in RANGES)) assert.ok(Number.isInteger(value), `${name} is ${value}`);
  } else if (typeof value === "object" && value !== null) {
    const same = Array.isArray(value) || name in RANGES;
    for (const [key, one] of Object.entries(value)) assertInRange(one, same ? name : key);
  }
}

for (const kind of Object.keys(PARSERS) as (keyof typeof PARSERS)[]) {
  const sample = RAW_OBJECTS[kind];

  pure(`the parser of ${kind} reads what is in range, or names what it can't read`, () => {
    assertInRange(PARSERS[kind](sample));
    fc.assert(
      fc.property(mutatedJSON(sample), (mutated) => {
        // The server itself writes the metadata.
        const raw = { ...Object(mutated), metadata: sample.metadata };
        const before = JSON.stringify(raw);
        try {
          assertInRange(PARSERS[kind](raw));
        } catch (error) {
          assert.ok(error instanceof TypeError || error instanceof SyntaxError, String(error));
          assert.match(error.message, /^Cannot (read|parse) [^\p{C}]{5,2000}$/u);
        }
        assert.equal(JSON.stringify(raw), before);
      }),
      cases(3),
    );
  });
}
