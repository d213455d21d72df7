/**
 * Properties of shortages, over any course of looks.
 *
 * @module
 */
import { pure } from "../fixtures/pure.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import { decodeMemory, memoryAt } from "../../controller/placement/store.ts";
import { nextShortage, type Shortage, shortagePhase } from "../../shared/placement/shortage.ts";
import { placedPod } from "../fixtures/placement/placed_pods.ts";

const TIMEOUT_MS = 60_000;
const FIRST_MS = 120_000;
const LONGEST_MS = 1_800_000;

const anyLooks = fc.array(
  fc.record({
    laterMs: fc.integer({ min: 0, max: 400_000 }),
    waitsForMs: fc.option(fc.integer({ min: 0, max: 120_000 }), { nil: undefined }),
    asSpecified: fc.boolean(),
  }),
  { minLength: 1, maxLength: 40 },
);

pure(
  "a fallback begins only after the timeout, lasts from 2 to 30 minutes, and outlives a restart",
  () => {
    const phases = new Set<string>();
    fc.assert(
      fc.property(anyLooks, (looks) => {
        let nowMs = 1_000_000;
        let shortage: Shortage | undefined;
        for (const { laterMs, waitsForMs, asSpecified } of looks) {
          nowMs += laterMs;
          const waiting = waitsForMs === undefined ? {} : {
            scheduled: false,
            unschedulableSinceMs: nowMs - waitsForMs,
          };
          const pods = [placedPod("web", { class: "spot", ...waiting })];
          const before = shortagePhase(shortage, nowMs);
          const after = nextShortage(shortage, { pods, asSpecified, nowMs });
          const phase = shortagePhase(after, nowMs);
          phases.add(`${before} to ${phase}`);
          if (before === "fallback") assert.equal(after, shortage);
          if (before !== "fallback" && phase === "fallback") {
            assert.ok(waitsForMs !== undefined && waitsForMs >= TIMEOUT_MS);
            const lastsMs = (after?.untilMs ?? 0) - nowMs;
            assert.equal(
              lastsMs,
              Math.min(LONGEST_MS, FIRST_MS * 2 ** (shortage?.rounds ?? 0)),
            );
            assert.equal(after?.rounds, (shortage?.rounds ?? 0) + 1);
          }
          if (before === "none") assert.notEqual(phase, "returning");
          const memory = after === undefined ? {} : { shortage: after };
          const stored: unknown = JSON.parse(JSON.stringify(memory));
          assert.deepEqual(memoryAt(decodeMemory(stored), nowMs), memory);
          shortage = after;
        }
      }),
    );
    const all = ["none to none", "none to fallback", "fallback to fallback"];
    for (const step of [...all, "returning to fallback", "returning to none"]) {
      assert.ok(phases.has(step), step);
    }
  },
);
