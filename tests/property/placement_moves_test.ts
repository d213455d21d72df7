/** Properties of moves: they are careful, they help, and they come to an end. */
import fc from "fast-check";
import assert from "node:assert/strict";
import * as keys from "../../shared/api/placement_keys.ts";
import { admitPod, noReservations } from "../../shared/placement/admit_pod.ts";
import { isWindowOpen } from "../../shared/placement/disruption_window.ts";
import { checkEligibility, placementFaultText } from "../../shared/placement/eligibility.ts";
import {
  decideMove,
  type MoveDecision,
  type MoveDecisionInput,
  type ReplicaStatus,
} from "../../shared/placement/decide_move.ts";
import type { ClassCounts, NodeClass } from "../../shared/placement/node_classes.ts";
import { countByClass, type PlacedPod } from "../../shared/placement/placed_pod.ts";
import { shortagePhase } from "../../shared/placement/shortage.ts";
import { ordinalClass, ordinalOf, splitReplicas } from "../../shared/placement/split.ts";
import { anySplitSpec, placedPod } from "../fixtures/placement/placed_pods.ts";
import { PLACEMENT_DEFAULTS } from "../fixtures/placement/placement_defaults.ts";
import { pure } from "../fixtures/pure.ts";

const NOW_MS = Date.parse("2026-05-04T12:00:00Z");

/** `true` in about one of `n` cases. */
const oneIn = (n: number): fc.Arbitrary<boolean> =>
  fc.integer({ min: 1, max: n }).map((i) => i === 1);

const anyKind = fc.constantFrom("Deployment" as const, "StatefulSet" as const);
const anyClass = fc.constantFrom<NodeClass>("spot", "on-demand");
const anyPods: fc.Arbitrary<readonly PlacedPod[]> = fc.array(
  fc.record({
    class: anyClass,
    cordoned: oneIn(3),
    pinned: oneIn(4),
    budget: oneIn(4),
    createdAtMs: fc.integer({ min: 0, max: 5 }),
  }),
  { maxLength: 15 },
).map((pods) =>
  pods.map(({ pinned, budget, ...pod }, ordinal) =>
    placedPod(`web-${ordinal}`, {
      ...pod,
      ...(pinned ? { pinned: "it forbids it" } : {}),
      ...(budget ? { budget: "it allows none" } : {}),
    })
  )
);

/** A workload with so many pods, each Ready. */
function wholeWorkload(kind: ReplicaStatus["kind"], { length }: readonly PlacedPod[]) {
  return {
    kind,
    replicas: length,
    observed: true,
    present: length,
    ready: length,
    updated: length,
  };
}

/** Mostly whole: where it is not, little else is tried. */
function workloadOf(kind: ReplicaStatus["kind"], replicas: number): fc.Arbitrary<ReplicaStatus> {
  const count = fc.oneof({ weight: 30, arbitrary: fc.constant(replicas) }, fc.nat(20));
  return fc.record({
    kind: fc.constant(kind),
    replicas: count,
    observed: oneIn(20).map((not) => !not),
    present: count,
    ready: count,
    updated: count,
  });
}

const anyInput: fc.Arbitrary<MoveDecisionInput> = fc.tuple(anyKind, anyPods).chain(([kind, pods]) =>
  fc.record({
    workload: workloadOf(kind, pods.length),
    spec: fc.tuple(anySplitSpec, oneIn(8), oneIn(6)).map(([split, paused, closed]) => ({
      ...split,
      paused,
      ...(closed ? { window: { schedule: "0 22 * * *", durationMs: 3_600_000 } } : {}),
    })),
    pods: fc.constant(pods),
    shortage: fc.option(
      fc.record({ untilMs: fc.constantFrom(NOW_MS - 1, NOW_MS + 1), rounds: fc.constant(1) }),
      { nil: undefined, freq: 2 },
    ),
    lastMoveAtMs: fc.option(
      fc.constantFrom(NOW_MS - 10_000, NOW_MS - 10_000, NOW_MS - 9_999),
      { nil: undefined },
    ),
    evictionFromMs: fc.constantFrom(0, 0, 0, NOW_MS, NOW_MS + 1),
    nowMs: fc.constant(NOW_MS),
  })
);

/** How far the pods are from where they are to be. */
function distance(
  { kind, replicas }: ReplicaStatus,
  input: Pick<MoveDecisionInput, "pods" | "spec">,
): number {
  const pods = input.pods.filter(({ gone }) => !gone);
  if (kind === "Deployment") {
    return Math.abs(countByClass(pods).spot - splitReplicas(pods.length, input.spec).spot);
  }
  return pods.filter((pod) =>
    ordinalClass(ordinalOf(pod.name) ?? -1, { replicas, spec: input.spec }) !== pod.class
  ).length;
}

function outcomeOf(decision: MoveDecision): string {
  return "move" in decision ? `to ${decision.move.to}` : decision.wait;
}

pure("decideMove() evicts what may go, from a whole workload, in time, above the floor", () => {
  fc.assert(
    fc.property(anyInput, (input) => {
      const { workload, spec, pods, shortage, lastMoveAtMs = 0, evictionFromMs, nowMs } = input;
      const decision = decideMove(input, PLACEMENT_DEFAULTS);
      if (!("move" in decision)) return;
      const { pod, to } = decision.move;
      assert.ok(pods.includes(pod) && pod.class !== to);
      assert.equal(pod.pinned ?? pod.budget, undefined);
      const { replicas, observed, ready, updated, present } = workload;
      assert.ok(observed);
      assert.deepEqual([ready, updated, present, pods.length], Array(4).fill(replicas));
      assert.ok(!spec.paused);
      assert.ok(spec.window === undefined || isWindowOpen(spec.window, nowMs));
      assert.ok(lastMoveAtMs <= nowMs - 10_000 && evictionFromMs <= nowMs);
      const moved = pods.map((one) => one === pod ? { ...pod, class: to } : one);
      assert.equal(
        distance(workload, { pods: moved, spec }),
        distance(workload, { pods, spec }) - 1,
      );
      if (to === "spot") {
        assert.notEqual(shortagePhase(shortage, nowMs), "fallback");
        const left = countByClass(moved)["on-demand"];
        const floor = Math.min(replicas, spec.minOnDemand, countByClass(pods)["on-demand"]);
        assert.ok(left >= floor);
      }
    }),
  );
  // Some outcomes are rare: a sample that is always the same shows that each can be drawn.
  const sample = fc.sample(anyInput, { seed: 1, numRuns: 300 });
  const outcomes = new Set(sample.map((input) => outcomeOf(decideMove(input, PLACEMENT_DEFAULTS))));
  const all = ["NotWhole", "AsSpecified", "PlacementPaused", "SpotFallback", "WindowClosed"];
  const waits = ["MoveCooldown", "EvictionRate", "NoneEvictable", "BlockedByPDB"];
  assert.deepEqual(outcomes, new Set([...all, ...waits, "to spot", "to on-demand"]));
});

pure("decideMove() waits only where nothing may go now", () => {
  fc.assert(
    fc.property(anyKind, anyPods, anySplitSpec, (kind, pods, split) => {
      const replicas = pods.length;
      const workload = wholeWorkload(kind, pods);
      const spec = { ...split, paused: false };
      const now = { evictionFromMs: 0, nowMs: NOW_MS };
      const decision = decideMove({ workload, spec, pods, ...now }, PLACEMENT_DEFAULTS);
      const free = pods.filter(({ pinned, budget }) =>
        pinned === undefined && budget === undefined
      );
      const isFloorBare = countByClass(pods)["on-demand"] <= Math.min(replicas, spec.minOnDemand);
      const helps = free.some((pod) => {
        const to = pod.class === "spot" ? "on-demand" as const : "spot" as const;
        if (to === "spot" && isFloorBare) return false;
        const moved = pods.map((one) => one === pod ? { ...pod, class: to } : one);
        return distance(workload, { pods: moved, spec }) < distance(workload, { pods, spec });
      });
      assert.equal("move" in decision, helps);
    }),
  );
});

pure("decideMove() takes no pod from a floor that pods bound to spot nodes leave bare", () => {
  let bare = 0;
  fc.assert(
    fc.property(anyKind, anyPods, fc.integer({ min: 0, max: 100 }), (kind, any, spotPercentage) => {
      const pods = any.map((pod) => pod.class === "spot" ? { ...pod, pinned: "its volume" } : pod);
      const workload = wholeWorkload(kind, pods);
      const spec = { spotPercentage, minOnDemand: countByClass(pods)["on-demand"], paused: false };
      const now = { evictionFromMs: 0, nowMs: NOW_MS };
      const decision = decideMove({ workload, spec, pods, ...now }, PLACEMENT_DEFAULTS);
      assert.ok("wait" in decision);
      if (decision.wait === "NoneEvictable" && kind === "StatefulSet") bare++;
    }),
  );
  assert.ok(bare > 10, `${bare}`);
});

pure("moves come to an end at the split, one for each pod that is misplaced", () => {
  fc.assert(
    fc.property(anyKind, anyPods, anySplitSpec, (kind, start, split) => {
      const replicas = start.length;
      const spec = { ...split, paused: false };
      const workload = wholeWorkload(kind, start);
      let pods = start.map(({ pinned: _, budget: __, ...pod }) => pod as PlacedPod);
      let left = distance(workload, { pods, spec });
      for (;;) {
        const now = { evictionFromMs: 0, nowMs: NOW_MS };
        const decision = decideMove({ workload, spec, pods, ...now }, PLACEMENT_DEFAULTS);
        if (!("move" in decision)) {
          assert.equal(decision.wait, "AsSpecified");
          break;
        }
        const { pod } = decision.move;
        pods = pods.filter((one) => one !== pod);
        const made = admitPod(noReservations(pods), {
          workload,
          spec,
          pods,
          shortage: "none",
          pod: { revision: pod.revision, name: pod.name },
          dryRun: false,
          nowMs: NOW_MS,
        });
        assert.equal(made.class, decision.move.to);
        pods.push({ ...pod, uid: `${pod.uid}'`, class: made.class });
        assert.equal(distance(workload, { pods, spec }), --left);
      }
      assert.equal(left, 0);
      const counts: ClassCounts = countByClass(pods);
      assert.deepEqual(counts, splitReplicas(replicas, spec));
    }),
  );
});

const anyReplicas = fc.integer({ min: 0, max: 10_000 });

pure("the split is of whole replicas, keeps the floor, and the share on spot at most", () => {
  fc.assert(
    fc.property(anyReplicas, anySplitSpec, (replicas, spec) => {
      const { spot, "on-demand": onDemand } = splitReplicas(replicas, spec);
      assert.ok(Number.isInteger(spot) && spot >= 0 && onDemand >= 0);
      assert.equal(spot + onDemand, replicas);
      assert.ok(onDemand >= Math.min(replicas, spec.minOnDemand));
      assert.ok(100 * spot <= replicas * spec.spotPercentage);
      // One more on spot would break one of the two.
      const more = spot + 1;
      assert.ok(
        100 * more > replicas * spec.spotPercentage || replicas - more < spec.minOnDemand,
      );
      // One replica more is one more in exactly one class.
      const after = splitReplicas(replicas + 1, spec);
      assert.deepEqual([after.spot - spot, after["on-demand"] - onDemand].toSorted(), [0, 1]);
    }),
  );
});

/** Values that are valid somewhere, their neighbours, and text of all kinds. */
const anyText = fc.oneof(
  fc.constantFrom("true", "false", "70%", "70", "0", "100", "101", "-1", "2h", "0s", "0 2 * * *"),
  fc.constantFrom("CRON_TZ=Europe/Berlin 0 2 * * *", "CRON_TZ=x 0 2 * * *", "* * 31 2 *", "1 2 3"),
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.integer().map(String),
  fc.stringMatching(/^[0-9*,/?a-zA-Z -]{1,20}$/),
);

const { PLACEMENT_PREFIX: _, ...named } = keys;
const anyTexts = fc.dictionary(
  fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom(...Object.values(named)) },
    fc.constantFrom("constructor", "__proto__", "app", "spotalis.io/other"),
  ),
  anyText,
);
const enabled = { [keys.ENABLED]: "true" };
const anyWorded = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      labels: fc.oneof(fc.constant(enabled), anyTexts),
      annotations: anyTexts,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      labels: fc.constant(enabled),
      annotations: fc.oneof(
        fc.constant({}),
        fc.integer({ min: 0, max: 120 }).map((share) => ({ [keys.SPOT_PERCENTAGE]: `${share}%` })),
      ),
    }),
  },
  fc.record({ labels: fc.constant({ [keys.ENABLED]: "false" }), annotations: anyTexts }),
);

const anyNamespace = fc.oneof(
  { weight: 4, arbitrary: fc.option(anyWorded, { nil: undefined }) },
  fc.record({ labels: fc.constant({ [keys.ENABLED]: "false" }), annotations: anyTexts }),
);

pure(
  "checkEligibility() gives a valid spec, none, or faults with a remedy, and never throws",
  () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(anyWorded, anyNamespace, (workload, namespace) => {
        const input = { namespace: { name: "shop", metadata: namespace } };
        const answer = checkEligibility({ ...input, ...workload }, {
          ownNamespace: "mbcas-system",
        });
        seen.add(answer.spec === undefined ? answer.reason : "valid");
        if (answer.spec === undefined) {
          const { reason, faults = [] } = answer;
          assert.equal(faults.length > 0, reason === "ConfigurationError");
          for (const fault of faults) {
            const { [fault.object]: worded } = { workload, namespace };
            const texts = worded?.[fault.place === "label" ? "labels" : "annotations"];
            assert.equal(Object.hasOwn(texts ?? {}, fault.key), fault.value !== undefined);
            assert.match(
              placementFaultText(fault),
              /^(label|annotation) spotalis\.io\/[a-z-]+ of the \w+ is \P{C}+: must \P{C}+[^.]$/u,
            );
          }
        } else {
          const { spotPercentage, minOnDemand, window } = answer.spec;
          assert.ok(Number.isInteger(spotPercentage) && spotPercentage >= 0);
          assert.ok(spotPercentage <= 100);
          assert.ok(Number.isInteger(minOnDemand) && minOnDemand >= 0 && minOnDemand <= 10_000);
          assert.ok(window === undefined || window.durationMs > 0);
        }
      }),
    );
    const reasons = ["PlacementOff", "NamespaceOptedOut", "PlacementUntuned", "ConfigurationError"];
    assert.deepEqual(seen, new Set(["valid", ...reasons]));
  },
);
