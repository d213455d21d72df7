/**
 * The least of the algorithm's stability that each change must pass; tests/long has the rest.
 *
 * @module
 */
import { pure } from "../fixtures/pure.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import type { RoundResult } from "../../agent/market/round.ts";
import { DEFAULT_PACE, grantable } from "../../shared/pacing/paced_container.ts";
import { cases } from "../fixtures/cases.ts";
import {
  drawnBounds,
  drawnContainer,
  drawnSettings,
  millicores,
  plantOf,
} from "../fixtures/market/drawn_plant.ts";

const MINUTE_MS = 60_000;

/** Millicores that are certainly committed after a round: limits above their floors. */
function surelyCommitted({ containers }: RoundResult): number {
  return containers.reduce((sum, { limit, floor }) => limit > floor ? sum + limit : sum, 0);
}

/** A container that uses `first`, and from the second minute on `then`. */
const drawnDemand = fc.record({ bounds: drawnBounds, first: millicores, then: millicores });

pure(
  "the algorithm never commits more than may be granted by a raise, however short the node is",
  () => {
    const demands = fc.array(drawnDemand, { minLength: 1, maxLength: 4 });
    const capacities = fc.integer({ min: 200, max: 6000 });
    let [ran, raisingRuns] = [0, 0];
    fc.assert(
      fc.property(demands, drawnSettings, capacities, (drawn, settings, capacity) => {
        ran++;
        let raises = 0;
        const containers = drawn.map(({ bounds, first, then }) =>
          drawnContainer(bounds, Math.max(first, then), (at) => at < MINUTE_MS ? first : then)
        );
        plantOf(containers, settings, { capacity }).runUntil(3 * MINUTE_MS, (round) => {
          const raised = round.containers.some(({ from, limit, floor }) =>
            limit > from && limit > floor
          );
          if (!raised) return;
          raises++;
          const after = surelyCommitted(round);
          // What may still be in force from before counts, too.
          const most = Math.max(grantable(capacity, DEFAULT_PACE), round.committed);
          assert.ok(after <= most + 1e-6, `${after} of ${capacity}, ${round.committed} before`);
        });
        if (raises > 0) raisingRuns++;
      }),
      { ...cases(0.2), endOnFailure: true },
    );
    assert.ok(raisingRuns > ran / 4, `${raisingRuns} of ${ran}`);
  },
);
