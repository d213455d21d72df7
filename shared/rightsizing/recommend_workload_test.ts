import assert from "node:assert/strict";
import fc from "fast-check";
import { formatBytes, formatCPU, parseBytes, parseCPU } from "../quantity.ts";
import type { ContainerUsage } from "./distribution.ts";
import type { RecommendationRule, RecommendOutcome } from "./recommend.ts";
import { recommendWorkload } from "./recommend_workload.ts";
import { distributionOfSamples } from "./samples.ts";

const MEBI = 2 ** 20;
const WINDOW = { nowMs: 1_800_000_000_000, windowMs: 86_400_000 } as const;
const RULE: RecommendationRule = {
  windowMs: WINDOW.windowMs,
  percentile: "P90",
  safetyFactor: 1.2,
  minSamples: 2,
  bounds: { cpu: { min: 10, max: 4000 }, memory: { min: MEBI, max: 2048 * MEBI } },
  updateStrategy: { updateRequestsOnly: true, limitMultipliers: { cpu: 1, memory: 1.1 } },
};

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function usage(container: string, samples: number): ContainerUsage {
  const of = (value: number) =>
    distributionOfSamples(
      Array.from({ length: samples }, () => ({ atMs: WINDOW.nowMs, value })),
      WINDOW,
    );
  return { container, cpu: of(100), memory: of(100 * MEBI) };
}

function nameOf({ recommendation, insufficient }: RecommendOutcome): string {
  return recommendation?.container ?? insufficient?.container ?? "";
}

const name = fc.constantFrom("app", "proxy", "log", "cache", "cron");
const template = fc.array(name, { maxLength: 8 });
const usages = fc.array(fc.tuple(name, fc.nat({ max: 4 })), { maxLength: 8 })
  .map((drawn) => drawn.map(([container, samples]) => usage(container, samples)));

pure("recommendWorkload() has every container exactly once, with quantities that parse", () => {
  fc.assert(
    fc.property(template, usages, (containers, known) => {
      const outcomes = recommendWorkload(containers, { usages: known, rule: RULE });
      assert.deepEqual(outcomes.map(nameOf), [...new Set(containers)]);
      for (const { recommendation, insufficient } of outcomes) {
        assert.notEqual(recommendation === undefined, insufficient === undefined);
        if (recommendation === undefined) continue;
        assert.equal(parseCPU(formatCPU(recommendation.cpu)), 120);
        assert.equal(parseBytes(formatBytes(recommendation.memory)), 120 * MEBI);
      }
    }),
  );
});

pure("recommendWorkload() has none for a container that nobody knows the usage of", () => {
  const [app, fresh] = recommendWorkload(["app", "fresh"], {
    usages: [usage("app", 5), usage("gone", 5)],
    rule: RULE,
  });
  assert.equal(app?.recommendation?.cpu, 120);
  assert.deepEqual([fresh?.insufficient?.have, fresh?.insufficient?.need], [0, 2]);
});

pure("recommendWorkload() corrects the container that was killed, and no other", () => {
  const [app, proxy] = recommendWorkload(["app", "proxy"], {
    usages: [usage("app", 5), usage("proxy", 5)],
    rule: RULE,
    corrections: new Map([["proxy", { oomKills: [{ hadBytes: 128 * MEBI }] }]]),
  });
  assert.equal(app?.recommendation?.memory, 120 * MEBI);
  assert.equal(proxy?.recommendation?.memory, 228 * MEBI);
});
