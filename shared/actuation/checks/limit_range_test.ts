import assert from "node:assert/strict";
import fc from "fast-check";
import {
  cpuRanges,
  enforcedContainer,
  enforcedPod,
  enforcementInput,
  marketWish,
} from "../../../tests/fixtures/enforcement_input.ts";
import { MARKET_CHAIN } from "../chains.ts";
import type { EnforcementInput } from "../check.ts";
import type { CPURanges } from "../cpu_range.ts";
import { decide } from "../decide.ts";
import { arbitrate } from "../intent.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function heldBy(fields: Partial<EnforcementInput>, chain = MARKET_CHAIN): string {
  const { changes, by, reason } = decide(chain, enforcementInput(fields));
  assert.deepEqual(changes, []);
  return `${by} ${reason}`;
}

test("decide() clamps into the LimitRange and goes on", () => {
  const decision = decide(MARKET_CHAIN, enforcementInput({ limitRange: cpuRanges({ max: 300 }) }));
  assert.deepEqual(decision.changes, [{ name: "app", sidecar: false, limitCPU: 300 }]);
  assert.equal(decision.by, "OutsideLimitRange");
});

test("decide() holds where the LimitRange would refuse the pod whatever the market does", () => {
  const other = enforcedContainer({ name: "jvm", limitCPU: 900, appliedLimitCPU: 900 });
  const older = enforcedPod({ containers: [enforcedContainer(), other] });
  const limitRange = cpuRanges({ max: 500 });
  const { changes, reason, message } = decide(
    MARKET_CHAIN,
    enforcementInput({ pod: older, limitRange }),
  );
  assert.deepEqual([changes, reason], [[], "LimitRange"]);
  assert.match(message ?? "", /container jvm: the LimitRange allows a limit of 500m/);
  assert.equal(heldBy({ limitRange: cpuRanges({ min: 150 }) }), "OutsideLimitRange LimitRange");
});

test("decide() keeps to the LimitRange's ratio and to what it allows a pod", () => {
  const limitOf = (limitRange: CPURanges): number | undefined =>
    decide(MARKET_CHAIN, enforcementInput({ limitRange })).changes[0]?.limitCPU;
  assert.equal(limitOf(cpuRanges({ ratio: 2.5 })), 250);
  assert.equal(limitOf(cpuRanges({}, { max: 330 })), 330);
  assert.equal(limitOf(cpuRanges({}, { ratio: 3 })), 300);
  assert.equal(heldBy({ limitRange: cpuRanges({}, { max: 150 }) }), "OutsideLimitRange LimitRange");
});

test("decide() holds where a LimitRange came that is below the request, or asks for one", () => {
  const heavy = enforcedContainer({ requestCPU: 200, limitCPU: 300, appliedLimitCPU: 300 });
  const pod = enforcedPod({ containers: [heavy] });
  const intents = arbitrate([marketWish(200)]);
  const limitRange = cpuRanges({ max: 100 });
  const { changes, reason, message } = decide(
    MARKET_CHAIN,
    enforcementInput({ pod, intents, limitRange }),
  );
  assert.deepEqual([changes, reason], [[], "LimitRange"]);
  assert.match(message ?? "", /container app: .* limit of 100m, the request is 200m already/);
  const { requestCPU: _none, ...bare } = enforcedContainer();
  const idle = enforcedPod({ containers: [bare] });
  assert.equal(
    heldBy({ pod: idle, limitRange: cpuRanges({ ratio: 2 }) }),
    "OutsideLimitRange LimitRange",
  );
});

test("decide() never asks for what the LimitRange forbids", () => {
  const millicores = fc.integer({ min: 1, max: 100 }).map((steps) => steps * 10);
  const requests = fc.oneof({ weight: 9, arbitrary: millicores }, fc.constant(0));
  const range = fc.record({
    min: fc.constantFrom(0, 50, 100),
    max: fc.oneof(fc.constant(Infinity), millicores),
    ratio: fc.oneof(fc.constant(Infinity), fc.integer({ min: 1, max: 6 })),
  });
  fc.assert(
    fc.property(
      fc.array(fc.tuple(requests, millicores, millicores), { minLength: 1, maxLength: 4 }),
      range,
      range,
      (sizes, ofContainer, ofPod) => {
        const containers = sizes.map(([request, present], index) => {
          const limitCPU = Math.max(request, present);
          const name = `c${index}`;
          return enforcedContainer({
            name,
            requestCPU: request,
            limitCPU,
            appliedLimitCPU: limitCPU,
          });
        });
        const intents = arbitrate(
          sizes.map(([request, , wanted], index) =>
            marketWish(Math.max(request, wanted), `c${index}`)
          ),
        );
        const limitRange = { container: ofContainer, pod: ofPod };
        const { changes } = decide(
          MARKET_CHAIN,
          enforcementInput({ pod: enforcedPod({ containers }), intents, limitRange }),
        );
        if (changes.length === 0) return;
        const after = containers.map(({ name, requestCPU = 0, limitCPU = 0 }) => ({
          request: requestCPU,
          limit: changes.find((change) => change.name === name)?.limitCPU ?? limitCPU,
        }));
        const total = after.reduce(
          (sum, one) => ({ request: sum.request + one.request, limit: sum.limit + one.limit }),
        );
        const pairs = [...after.map((one) => [one, ofContainer] as const), [total, ofPod] as const];
        for (const [{ request, limit }, { min, max, ratio }] of pairs) {
          assert.ok(request >= min && limit >= min && limit <= max);
          assert.ok(ratio === Infinity || limit <= ratio * request);
          assert.ok(limit >= request && limit >= 1);
        }
      },
    ),
  );
});
