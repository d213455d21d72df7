import assert from "node:assert/strict";
import {
  type AlgorithmOutcome,
  AS_IT_IS,
  type Entry,
  OURS,
  OURS_TIGHT,
} from "../../../lab/arena/outcome.ts";
import { P90 } from "./replayed_algorithms.ts";
import { verdict } from "./verdict.ts";

const SLO_MS = 140;

function outcome(
  { algorithm, setting }: Entry,
  coresAllocated: number,
  p99Ms: number,
): AlgorithmOutcome {
  const sloHeld = p99Ms <= SLO_MS;
  const figures = { coresAllocated, p99Ms };
  return {
    algorithm,
    setting,
    sloHeld,
    sloHeldShare: Number(sloHeld),
    median: figures,
    least: figures,
    most: figures,
  };
}

type Costs = readonly [cores: number, p99Ms: number];

function played(ours: Costs, own: Costs): AlgorithmOutcome[] {
  return [outcome(OURS, 8, 39), outcome(OURS_TIGHT, ...ours), outcome(AS_IT_IS, ...own)];
}

function first(
  ours: readonly [cores: number, p99Ms: number],
  own: readonly [cores: number, p99Ms: number],
): string | undefined {
  return verdict(played(ours, own), { sloMs: SLO_MS })[0];
}

function second(
  ours: readonly [cores: number, p99Ms: number],
  other: AlgorithmOutcome,
  own: readonly [cores: number, p99Ms: number] = [4, 900],
): string | undefined {
  return verdict([...played(ours, own), other], { sloMs: SLO_MS })[1];
}

Deno.test({
  name: "verdict() says what ours saves or costs beside the limit as it is",
  permissions: "none",
  fn() {
    const saved = first([1.2, 57], [4, 41]) ?? "";
    assert.match(
      saved,
      /1\.20 cores .* 4\.00 \(70 % less\) .* 57\.0 ms \(.*: 41\.0 ms\), within .* 140 ms/,
    );
    const spent = first([3, 57], [2, 900]) ?? "";
    assert.match(
      spent,
      /3\.00 cores .* 2\.00 \(50 % more\) .* 57\.0 ms, within .* 140 ms; .* 900 ms/,
    );
    const worse = first([1, 200], [1, 41]) ?? "";
    assert.match(worse, /1\.00 cores, .* 200 ms, beyond .* 140 ms; .* 41\.0 ms/);
    const neither = first([3, 200], [4, 900]) ?? "";
    assert.match(neither, /\(25 % less\) .* 200 ms .* 900 ms; neither .* 140 ms/);
  },
});

Deno.test({
  name: "verdict() names the cheapest other algorithm that holds the SLO, also when it is cheaper",
  permissions: "none",
  fn() {
    const vpa = (cores: number, p99Ms: number) =>
      outcome({ algorithm: "vpa", setting: "s" }, cores, p99Ms);
    assert.match(second([1.2, 57], vpa(3, 50)) ?? "", /"vpa: s" .*: 3\.00, more /);
    assert.match(second([1.2, 57], vpa(1, 50)) ?? "", /1\.00, fewer than CoAllocator\.$/);
    assert.match(second([1.2, 57], vpa(1.205, 50)) ?? "", /: 1\.21, as many /);
    assert.match(second([1.2, 500], vpa(1, 50)) ?? "", /fewest cores: 1\.00\.$/);
    assert.match(
      second([1.2, 57], outcome(P90, 1, 50)) ?? "",
      /"static: P90 x 1\.15", .*beforehand, /,
    );
    assert.match(second([1.2, 57], vpa(1, 500)) ?? "", /^No other .* SLO\.$/);
    assert.match(second([1.2, 57], vpa(5, 50), [4, 100]) ?? "", /^No other .* fewer cores /);
  },
});

Deno.test({
  name: "verdict() shows what ships, and needs every side",
  permissions: "none",
  fn() {
    const outcomes = played([1, 50], [4, 50]);
    assert.match(verdict(outcomes, { sloMs: SLO_MS })[2] ?? "", /free: P99 39\.0 ms\.$/);
    for (const index of outcomes.keys()) {
      const lacking = outcomes.toSpliced(index, 1);
      assert.throws(() => verdict(lacking, { sloMs: SLO_MS }), RangeError);
    }
  },
});
