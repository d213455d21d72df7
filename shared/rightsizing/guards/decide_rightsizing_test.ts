import fc from "fast-check";
import assert from "node:assert/strict";
import { forAll } from "../../../tests/fixtures/for_all.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import { autoPolicy, MI } from "../../../tests/fixtures/rightsizing/rightsizing_snapshot.ts";
import { pair, type ResourcePair } from "../../resize/inputs/resources.ts";
import { RIGHTSIZING_CHAIN, STRAGGLER_CHAIN } from "./decide_rightsizing.ts";
import { leastSafeMemory, liftMemory } from "./memory_decrease.ts";
import { reachesThreshold } from "./policy_guards.ts";

// The decision tables of tests/golden prove each guard; these rows show what they are for.

pure("RIGHTSIZING_CHAIN keeps its order, STRAGGLER_CHAIN lacks new values' guards", () => {
  const names = RIGHTSIZING_CHAIN.map(({ name }) => name);
  assert.equal(
    names.join(),
    "SamplesLacking,ModeHolds,DryRunHolds,PermissionMissing,LastDenialHolds,BoundUnreadable," +
      "HorizontalAutoscalerConflicts,VerticalAutoscalerConflicts,RolloutHolds,OutsideRanges," +
      "OverQuotas,OverNodes,QoSWouldChange,RequestAboveLimit,UnsafeMemoryDecrease," +
      "NodeUnderPressure,NotRolledOut,BelowThreshold,TakenBack,RecentlyEdited,CoolingDown,NoMethod",
  );
  const stragglers = STRAGGLER_CHAIN.map(({ name }) => name);
  assert.deepEqual(stragglers, [...names.slice(0, -5), "NoWayInPlace"]);
});

pure("reachesThreshold() asks for the percentage of what is there, and a difference", () => {
  const rows = [
    ...[[100, 110, 10, true], [100, 109, 10, false], [100, 90, 10, true], [100, 91, 10, false]],
    ...[[100, 100, 0, false], [100, 101, 0, true], [undefined, 1, 10, true]],
    [100, undefined, 0, false],
  ] as const;
  for (const [from, to, percent, expected] of rows) {
    assert.equal(reachesThreshold(from, to, { percent }), expected, `${from} to ${to}`);
  }
});

interface Choice {
  readonly peak: number;
  readonly own: ResourcePair;
  readonly percent: number;
  readonly max: number;
}

/** The pair after the lift, in Mi as all values. */
function lifted(
  { request, limit }: ResourcePair,
  { peak, own, percent, max }: Choice,
): ResourcePair {
  const mebi = (value: number | undefined) => value === undefined ? undefined : value * MI;
  const side = (value: number | undefined) => value === undefined ? {} : { memory: value * MI };
  const asked = pair(mebi(request), mebi(limit));
  const bounds = { cpu: { min: 1, max: 1000 }, memory: { min: 1, max: max * MI } };
  const next = liftMemory({ container: "app", resource: "memory", pair: asked }, {
    peak: peak * MI,
    author: { requests: side(own.request), limits: side(own.limit) },
    policy: autoPolicy({ changeThresholdPercent: percent }, { bounds }),
  }).pair;
  return pair(next.request && next.request / MI, next.limit && next.limit / MI);
}

const amount = fc.integer({ min: 1, max: 4096 });
const wholePair = fc.tuple(amount, amount).map(([one, other]) => ({
  request: Math.min(one, other),
  limit: Math.max(one, other),
}));

const moves = (least: number) =>
  fc.array(fc.integer({ min: least, max: 20 }), { minLength: 50, maxLength: 200 });

forAll("liftMemory() is safe, and lasts until a peak has grown by a step", [fc.record({
  first: wholePair,
  own: wholePair,
  percent: fc.integer({ min: 0, max: 100 }),
  max: fc.oneof(amount, fc.constant(2 ** 20)),
  // A leak, noise, or both: each peak is some thousandths more or less than the one before.
  from: amount,
  moves: fc.oneof(moves(0), moves(-20)),
})], ({ first, own, percent, max, from, moves }) => {
  let peak = from;
  let value: ResourcePair = first;
  const seen = [from];
  let changes = 0;
  for (const thousandths of moves) {
    peak = Math.ceil(peak * MI * (1000 + thousandths) / 1000) / MI;
    seen.push(peak);
    const next = lifted(value, { peak, own, percent, max });
    for (const side of ["request", "limit"] as const) {
      const [was = 0, is = 0] = [value[side], next[side]];
      assert.ok(is >= was && is >= Math.min(leastSafeMemory(peak * MI) / MI, own[side]));
      assert.ok(is === was || is <= own[side], "the author has said how much");
    }
    assert.ok((next.request ?? 0) <= (next.limit ?? 0));
    if (next.request !== value.request || next.limit !== value.limit) changes++;
    value = next;
  }
  const growth = Math.log(Math.max(...seen) / Math.min(...seen));
  const steps = growth / Math.log1p(Math.max(percent, 5) / 100);
  // One more where the first is only up to the bounds, or a limit is all that is left to lift.
  assert.ok(changes <= Math.floor(steps) + 2, `${changes} of ${steps}`);
}, 1);
