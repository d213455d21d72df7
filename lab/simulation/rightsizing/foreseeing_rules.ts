/**
 * Rules that know the future: bounds that no honest one can pass.
 *
 * @module
 */
import type { RightsizingRule, RuleRun } from "./rule.ts";
import type { UsageHistory } from "./usage_history.ts";

/**
 * The largest value of the interval that begins: with one value per interval, the least waste that
 * covers everything. Where nothing was recorded it leaves what was.
 */
export function nextMaximum(history: UsageHistory, intervalMs: number): RightsizingRule {
  const { atMs, values } = history;
  let from = 0;
  return {
    name: "oracle",
    setting: "maximum of what comes",
    begin: () =>
      foreseeing((nowMs) => {
        if ((atMs[from] ?? 0) > nowMs) from = 0;
        while (from < atMs.length && (atMs[from] ?? Infinity) < nowMs) from++;
        let most = -Infinity;
        for (let index = from; (atMs[index] ?? Infinity) < nowMs + intervalMs; index++) {
          most = Math.max(most, values[index] ?? 0);
        }
        return most === -Infinity ? undefined : most;
      }),
  };
}

/** The largest value of all, set once: what covers everything without ever changing. */
export function fixedMaximum({ values }: UsageHistory): RightsizingRule {
  const most = values.reduce((a, b) => Math.max(a, b), 0);
  return { name: "fixed", setting: "maximum of all", begin: () => foreseeing(() => most) };
}

function foreseeing(value: (nowMs: number) => number | undefined): RuleRun {
  return {
    observe() {},
    killed() {},
    recommend(nowMs) {
      const known = value(nowMs);
      return known === undefined ? undefined : { value: known };
    },
  };
}
