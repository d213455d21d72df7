import { pure } from "../../../tests/fixtures/pure.ts";
import { minuteHistory } from "../../../tests/fixtures/lab/minute_history.ts";
import assert from "node:assert/strict";
import { OURS, VPA } from "./contestants.ts";
import { playRules } from "./play_rules.ts";
import type { UsageHistory } from "./usage_history.ts";

const HOUR_MS = 3_600_000;

/** Three days with a peak each noon. */
function history(name: string, resource: UsageHistory["resource"], scale: number): UsageHistory {
  const values = Array.from({ length: 3 * 1440 }, (_, minute) => {
    const hour = minute / 60 % 24;
    return scale * (hour >= 12 && hour < 13 ? 1000 : 200);
  });
  return minuteHistory(values, { name, resource });
}

/** The rule with this label, or the only one with a label that starts with it. */
function ruleOf<T extends { readonly label: string }>(rules: readonly T[], label: string): T {
  const alike = rules.filter((rule) => rule.label.startsWith(label));
  const found = alike.find((rule) => rule.label === label) ?? alike[0];
  assert(found !== undefined, label);
  assert(found.label === label || alike.length === 1, `${label}: ${alike.length} rules`);
  return found;
}

pure("playRules() plays every rule on every series, and sums them up", () => {
  const { series, rules } = playRules([history("a", "cpu", 1), history("b", "cpu", 2)]);
  assert.deepEqual(series.map(({ name }) => name), ["a", "b"]);
  const labels = rules.map(({ label }) => label);
  assert.equal(new Set(labels).size, labels.length);
  for (const { rules: own } of series) assert.deepEqual(own.map(({ label }) => label), labels);
  const of = (label: string) => ruleOf(rules, label);
  assert.deepEqual([of(OURS).kills, of(VPA).kills], [0, 0]);
  // P90 of a day knows nothing of an hour in it: 23 of 24 are covered, on both.
  assert.ok(Math.abs(of(OURS).coverage - 23 / 24) < 1e-9, `${of(OURS).coverage}`);
  assert.equal(of(OURS).overLimitMinutes, 2 * 2 * 60);
  assert.ok(Math.abs(of(OURS).shortDays.p50 - 1 / 24) < 1e-9);
  // P99 does, once it has seen one: the judged days come after it.
  assert.equal(of("ours, P99 × 1.2, 24 h").coverage, 1);
  const oracle = of("oracle, maximum");
  assert.deepEqual([oracle.coverage, oracle.waste], [1, 0]);
  assert.equal(of("fixed, maximum").changesPerDay, 0);
});

pure("playRules() kills memory under limits, and rules learn of it", () => {
  const { rules } = playRules([history("m", "memory", 2 ** 20)], {
    limitFactor: 1.1,
    warmUpMs: HOUR_MS,
  });
  const kills = (label: string): number => ruleOf(rules, label).kills;
  // 220 Mi below the peak of 1000: rules that know no kills would die each day, on each step.
  for (const label of [OURS, VPA]) {
    const died = kills(label);
    assert.ok(died >= 2 && died <= 10, `${label}: ${died}`);
  }
  assert.equal(kills("fixed, maximum"), 0);
});

pure(
  "playRules() plays the correction for throttling where limits hold CPU back, and only there",
  () => {
    const corrects = (resource: UsageHistory["resource"], limitFactor?: number): boolean =>
      playRules([history("a", resource, 2 ** 20)], limitFactor === undefined ? {} : { limitFactor })
        .rules.some(({ label }) => label === `${OURS}, corrected`);
    assert.equal(corrects("cpu", 1), true);
    assert.equal(corrects("cpu"), false);
    assert.equal(corrects("memory", 1.1), false);
  },
);
