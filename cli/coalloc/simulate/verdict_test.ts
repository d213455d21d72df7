import assert from "node:assert/strict";
import { AS_IT_IS, type Entry, OURS, OURS_LENT } from "../../../simulation/arena/entry.ts";
import type { LawOutcome } from "../../../simulation/arena/law_outcome.ts";
import { P90 } from "./replayed_laws.ts";
import { verdict } from "./verdict.ts";

const SLO_MS = 140;

function outcome({ law, setting }: Entry, coresAllocated: number, p99Ms: number): LawOutcome {
  const sloHeld = p99Ms <= SLO_MS;
  const figures = { coresAllocated, p99Ms };
  return {
    law,
    setting,
    sloHeld,
    sloHeldShare: Number(sloHeld),
    median: figures,
    least: figures,
    most: figures,
  };
}

function first(
  ours: readonly [cores: number, p99Ms: number],
  own: readonly [cores: number, p99Ms: number],
): string | undefined {
  return verdict([outcome(OURS, ...ours), outcome(AS_IT_IS, ...own)], { sloMs: SLO_MS })[0];
}

function second(
  ours: readonly [cores: number, p99Ms: number],
  other: LawOutcome,
  own: readonly [cores: number, p99Ms: number] = [4, 900],
): string | undefined {
  const outcomes = [outcome(OURS, ...ours), outcome(AS_IT_IS, ...own), other];
  return verdict(outcomes, { sloMs: SLO_MS })[1];
}

Deno.test({
  name: "verdict() says what ours saves or costs beside the limit as it is",
  permissions: "none",
  fn() {
    assert.equal(
      first([1.2, 57], [4, 41]),
      "CoAllocator would have allocated 1.20 cores on average instead of 4.00 (70 % less) and kept " +
        "P99 at 57.0 ms (as it is: 41.0 ms), within the SLO of 140 ms.",
    );
    assert.equal(
      first([3, 57], [2, 900]),
      "CoAllocator would have allocated 3.00 cores on average instead of 2.00 (50 % more) and kept " +
        "P99 at 57.0 ms, within the SLO of 140 ms; as it is, P99 was 900 ms.",
    );
    assert.equal(
      first([1, 200], [1, 41]),
      "CoAllocator would have allocated 1.00 cores, as many as your limit, but let P99 rise to " +
        "200 ms, beyond the SLO of 140 ms; your limit as it is kept it at 41.0 ms.",
    );
    assert.match(
      first([3, 200], [4, 900]) ?? "",
      /\(25 % less\) with P99 at 200 ms instead of 900 ms; neither holds the SLO of 140 ms\.$/,
    );
  },
});

Deno.test({
  name: "verdict() names the cheapest other law that holds the SLO, also when it is cheaper",
  permissions: "none",
  fn() {
    const vpa = (cores: number, p99Ms: number) =>
      outcome({ law: "vpa", setting: "s" }, cores, p99Ms);
    assert.equal(
      second([1.2, 57], vpa(3, 50)),
      'Of the other laws "vpa: s" held the SLO with the fewest cores: 3.00, more than CoAllocator.',
    );
    assert.match(second([1.2, 57], vpa(1, 50)) ?? "", /1\.00, fewer than CoAllocator\.$/);
    assert.match(second([1.2, 57], vpa(1.205, 50)) ?? "", /as many as CoAllocator\.$/);
    assert.match(second([1.2, 500], vpa(1, 50)) ?? "", /fewest cores: 1\.00\.$/);
    assert.match(
      second([1.2, 57], outcome(P90, 1, 50)) ?? "",
      /^Of the other laws "static: P90 x 1\.15", which knows the whole load beforehand, held/,
    );
    assert.equal(second([1.2, 57], vpa(1, 500)), "No other law in the table held the SLO.");
    assert.equal(
      second([1.2, 57], vpa(5, 50), [4, 100]),
      "No other law in the table held the SLO with fewer cores than your limit as it is.",
    );
  },
});

Deno.test({
  name: "verdict() tells what ships, and needs both sides",
  permissions: "none",
  fn() {
    const [ours, own] = [outcome(OURS, 1, 50), outcome(AS_IT_IS, 4, 50)];
    assert.match(
      verdict([ours, own, outcome(OURS_LENT, 8, 39)], { sloMs: SLO_MS })[2] ?? "",
      /average 8\.00 cores, loans included, and P99 is 39\.0 ms\.$/,
    );
    assert.throws(() => verdict([ours], { sloMs: SLO_MS }), RangeError);
  },
});
