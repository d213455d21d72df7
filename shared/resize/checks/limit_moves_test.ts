import fc from "fast-check";
import assert from "node:assert/strict";
import {
  bounded,
  claimTable as table,
  containerAt as at,
  cpuRanges,
  decideClaim,
  enforcedContainer,
  enforcedPod,
  guaranteedPair,
  jvm,
  marketClaim,
  marketDecision as market,
  podOf as pod,
  THERE,
  wants,
} from "../../../tests/fixtures/market/decide_claim.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import { limitBounds } from "../../market/clearing_round.ts";

const CLAMPED = "OutsideBounds";

table("decide() clamps what the agent wants into the published bounds", [
  [{ ...bounded({}), ...wants(250) }, "app 250"],
  [{ ...bounded({}), ...wants(90) }, `app 100; ${CLAMPED}`],
  [{ ...bounded({}), ...wants(500) }, `app 400; ${CLAMPED}`],
  [{ claims: [marketClaim(400, "unknown")] }, CLAMPED],
  [{ ...bounded({ held: "lower" }), ...wants(150) }, THERE],
  [{ ...bounded({ held: "lower" }), ...wants(500) }, `app 400; ${CLAMPED}`],
  // The hold takes precedence over a ceiling that has come down, not over a floor that has come up.
  [{ ...bounded({ held: "lower", ceiling: 150 }), ...wants(190) }, THERE],
  [{ ...bounded({ held: "lower", floor: 240 }), ...wants(210) }, `app 240; ${CLAMPED}`],
  [{ ...bounded({ held: "both", floor: 240 }), ...wants(50) }, THERE],
  [{ ...bounded({ held: "half" }), ...wants(150) }, "app 150"],
]);

pure("decide() never clamps what an agent of ours may clear, held or not", () => {
  const side = fc.integer({ min: 1, max: 500 }).map((steps) => 10 * steps);
  const held = fc.constantFrom("half", "lower", "both", undefined);
  fc.assert(
    fc.property(side, side, side, held, fc.double({ min: 0, max: 1, noNaN: true }), (...all) => {
      const [floor, spare, present, hold, part] = all;
      const ceiling = floor + spare;
      const range = limitBounds({
        ...{ floor, ceiling, present, held: hold, weight: 1, credit: 1 },
        ...{ originalLimit: 200, demand: 100 },
      });
      const limit = range.floor + part * (range.ceiling - range.floor);
      const bounds = { floor, ceiling, ...(hold === undefined ? {} : { held: hold }) };
      assert.ok(!market({ ...bounded(bounds, present), ...wants(limit) }).includes("Bounds"));
    }),
  );
});

const two = pod(enforcedContainer(), jvm());
const unsynced = { ...two, outOfSync: ["namespaces"] };
const swinging = { ...two, oscillatingMs: 9000 };

table(
  "decide() moves limits one way while out of sync, and by steps",
  [
    [{ ...unsynced, ...wants(100, 200) }, "app 100"],
    [{ ...unsynced, ...wants(100, 300) }, "app 100; OutOfSync"],
    [{ ...unsynced, ...wants(300) }, "OutOfSync"],
    [{ ...two, outOfSync: [], ...wants(300) }, "app 300"],
    [{ ...swinging, ...wants(300, 200) }, "app 300"],
    [{ ...swinging, ...wants(150, 300) }, "jvm 300; Oscillating"],
    [{ ...swinging, ...wants(150) }, "Oscillating"],
    [{ ...two, oscillatingMs: 0, ...wants(150) }, "app 150"],
    [{ maxStep: 1.5, ...wants(3000) }, "app 300; StepLimited"],
    [{ maxStep: 1.5, ...wants(290) }, "app 290"],
    [{ maxStep: 1.5, ...pod(at(300)), ...wants(100) }, "app 200; StepLimited"],
  ],
);

const raising = { outOfSync: ["resourceQuotas"], limitRange: cpuRanges({ min: 250 }) };

table(
  "decide() sends no raise to a LimitRange's minimum while out of sync, and nothing beside it",
  [
    // The request goes with the limit, so that both may be raised to a minimum above the present ones.
    [{ ...raising, ...guaranteedPair(200, 400), ...wants(150) }, "OutOfSync/raised OutOfSync"],
    [{ ...raising, ...guaranteedPair(200, 400), ...wants(250, 300) }, "OutOfSync/raised OutOfSync"],
    [
      { ...raising, ...guaranteedPair(300, 400), ...wants(200, 300) },
      "app 250/250, jvm 300/300; LimitRange",
    ],
    [
      { ...raising, outOfSync: [], ...guaranteedPair(200, 400), ...wants(150, 300) },
      "app 250/250, jvm 300/300; LimitRange",
    ],
  ],
);

pure("decide() leads by steps to any limit in the end", () => {
  const limit = fc.integer({ min: 100, max: 2000 });
  fc.assert(
    fc.property(limit, limit, fc.double({ min: 1.1, max: 3, noNaN: true }), (a, b, maxStep) => {
      let present = a;
      for (let steps = 0; present !== b; steps++) {
        assert.ok(steps < 200, `${a} to ${b} by ${maxStep}`);
        const { changes } = decideClaim({ ...pod(at(present)), ...wants(b), maxStep });
        present = changes[0]?.limits.cpu ?? NaN;
      }
    }),
  );
});

pure("outOfSync() takes the first limit of a container for no raise", () => {
  const app = { ...enforcedContainer(), limits: {}, applied: { requests: {}, limits: {} } };
  const unsynced = { pod: enforcedPod({ containers: [app] }), outOfSync: ["nodes"] };
  assert.equal(market({ ...unsynced, claims: [marketClaim(300)] }), "app 300");
});
