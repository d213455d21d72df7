import assert from "node:assert/strict";
import fc from "fast-check";
import {
  enforcedAllocation,
  enforcedContainer,
  enforcedPod,
  enforcementInput,
} from "../../../tests/fixtures/market/enforcement_input.ts";
import type { ContainerBounds } from "../../api/pod_allocation.ts";
import { limitBounds } from "../../market/clearing_round.ts";
import { outsideBounds } from "./published_bounds.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

/** The verdict on a new limit for container `app`; its present limit is 200 m. */
function verdict(limit: number, bounds: Partial<ContainerBounds>, present = 200) {
  const app = { name: "app", containerID: "c", floor: 100, ceiling: 400, weight: 1, ...bounds };
  const input = enforcementInput({
    allocation: {
      ...enforcedAllocation,
      status: { bounds: { revision: 3, reason: "", containers: [app] } },
    },
    pod: enforcedPod({ containers: [enforcedContainer({ limits: { cpu: present } })] }),
  });
  return outsideBounds(input, new Map([["app", { requests: {}, limits: { cpu: limit } }]]));
}

function limitFor(...limit: Parameters<typeof verdict>): number | undefined {
  const said = verdict(...limit);
  if (said === undefined) return limit[0];
  return said.verdict === "clamp" ? said.wanted.get("app")?.limits.cpu : undefined;
}

test("outsideBounds() passes limits within the bounds, and clamps the others", () => {
  for (const limit of [100, 250, 400]) assert.equal(verdict(limit, {}), undefined);
  assert.equal(limitFor(90, {}), 100);
  assert.equal(limitFor(500, {}), 400);
  assert.match(verdict(500, {})?.message ?? "", /app.*500m.*100m.*400m/);
});

test("outsideBounds() lets no limit be lowered that is held from below", () => {
  assert.equal(limitFor(150, { held: "lower" }), 200);
  assert.equal(limitFor(300, { held: "lower" }), 300);
  assert.equal(limitFor(500, { held: "lower" }), 400);
  // The hold stands over a ceiling that has come down, and under a floor that has come up.
  assert.equal(limitFor(200, { held: "lower", ceiling: 150 }), 200);
  assert.equal(limitFor(200, { held: "lower", floor: 240 }), 240);
});

test("outsideBounds() lets nothing become of a limit that is held on both sides", () => {
  for (const limit of [50, 150, 200, 300, 500]) {
    assert.equal(limitFor(limit, { held: "both", floor: 240 }), 200);
  }
});

test("outsideBounds() leaves half steps to the agent, within the bounds", () => {
  assert.equal(limitFor(150, { held: "half" }), 150);
  assert.equal(limitFor(450, { held: "half" }, 600), 400);
});

test("outsideBounds() holds a limit for a container without bounds", () => {
  const said = outsideBounds(
    enforcementInput(),
    new Map([["other", { requests: {}, limits: { cpu: 300 } }]]),
  );
  assert.deepEqual([said?.verdict, said?.reason], ["hold", "OutsideBounds"]);
  assert.match(said?.message ?? "", /other/);
});

test("outsideBounds() never objects to what an agent of ours may clear, held or not", () => {
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
      assert.equal(verdict(limit, bounds, present), undefined);
    }),
  );
});
