/**
 * Placement in a small world: what holds whatever happens, and what things come to once they are quiet.
 *
 * @module
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { cases } from "../fixtures/cases.ts";
import type { SplitSpec } from "../../shared/placement/split.ts";
import { type Happening, Play, type Story } from "./placement_play.ts";
import type { WorldWorkload } from "./placement_world.ts";

/** Longer than the product waits for anything: than a fallback and the patience after it. */
const QUIET_S = 240;

const anySpec: fc.Arbitrary<SplitSpec> = fc.record({
  spotPercentage: fc.oneof(fc.integer({ min: 0, max: 100 }), fc.constantFrom(0, 50, 70, 100)),
  minOnDemand: fc.integer({ min: 0, max: 4 }),
});
const anyReplicas = fc.integer({ min: 0, max: 12 });
const anyScale = fc.record({ does: fc.constant("scale" as const), to: anyReplicas });
const anyRollout = fc.constant({ does: "roll out" as const });
const anyHappening: fc.Arbitrary<Happening> = fc.oneof(
  anyScale,
  anyRollout,
  fc.constant({ does: "controller dies" as const }),
  fc.constant({ does: "spot gone" as const }),
  fc.record({ does: fc.constant("spec" as const), spec: anySpec }),
  fc.record({
    does: fc.constantFrom("lose" as const, "interrupt" as const, "drain" as const),
    which: fc.nat(7),
  }),
  fc.record({
    does: fc.constantFrom(
      "webhook down" as const,
      "webhook restarts" as const,
      "controller down" as const,
      "all up" as const,
      "nodes back" as const,
    ),
  }),
);

function anyStory(
  event: fc.Arbitrary<Happening>,
  { kind, everyS }: {
    readonly kind: fc.Arbitrary<WorldWorkload["kind"]>;
    readonly everyS: fc.Arbitrary<number>;
  },
): fc.Arbitrary<Story> {
  return fc.record({
    kind,
    replicas: anyReplicas,
    spec: anySpec,
    lag: fc.integer({ min: 0, max: 3 }),
    budget: fc.boolean(),
    events: fc.array(fc.tuple(everyS, event), { maxLength: 10 }),
  });
}

function property(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, permissions: "none", fn });
}

property(
  "once things are quiet the replicas run as the formula says, whatever has happened",
  async () => {
    const met = new Set<string>();
    let deaths = 0;
    await fc.assert(
      fc.asyncProperty(
        anyStory(anyHappening, {
          kind: fc.constantFrom("Deployment" as const, "StatefulSet" as const),
          everyS: fc.integer({ min: 0, max: 60 }),
        }),
        async (story) => {
          let wholeSince = true;
          let moves = 0;
          const foreign = new Set(["foreign-1", "foreign-2"]);
          const play: Play = new Play(story, ({ wasWhole, world, product }) => {
            if (wasWhole) wholeSince = true;
            const made = product.evictions.filter(({ why }) =>
              why === "move" || why === "drained"
            ).length;
            if (made > moves) {
              assert.equal(made, moves + 1, "two moves at once");
              assert.ok(wholeSince, "a move before the one before it was over");
              moves = made;
              wholeSince = false;
              const { uid, why } = product.evictions.at(-1)!;
              const moved = world.pods.find((pod) => pod.uid === uid);
              const isMove = why === "move" && moved?.node?.class === "on-demand";
              if (wasWhole && isMove) play.assertFloor();
            }
            for (const { uid } of product.evictions) assert.ok(!foreign.has(uid), uid);
          });
          await play.play(story);
          play.happens({ does: "all up" });
          play.happens({ does: "nodes back" });
          let quiet = 0;
          for (let second = 0; second < 4000 && quiet < QUIET_S; second++) {
            const before = play.product.evictions.length;
            await play.seconds(1);
            quiet = play.world.whole && play.product.evictions.length === before ? quiet + 1 : 0;
          }
          assert.ok(quiet >= QUIET_S, "it never becomes quiet");
          assert.deepEqual(play.counts, play.split);
          for (const { why } of play.product.evictions) met.add(why);
          deaths += play.product.deaths;
        },
      ),
      cases(0.5),
    );
    assert.deepEqual(met, new Set(["move", "stranded", "departs", "drained"]));
    assert.ok(deaths > 5, `${deaths}`);
  },
);

property(
  "a Deployment that is scaled and rolled out is divided at every moment that it is whole",
  async () => {
    let moments = 0;
    await fc.assert(
      fc.asyncProperty(
        anyStory(fc.oneof(anyScale, anyRollout), {
          kind: fc.constant("Deployment"),
          everyS: fc.integer({ min: 15, max: 60 }),
        }),
        async (story) => {
          const play: Play = new Play(story, ({ world, counts, split, product }) => {
            if (world.whole) {
              assert.deepEqual(counts, split);
              moments++;
            }
            assert.deepEqual(product.evictions, []);
          });
          await play.play(story);
          await play.seconds(60);
          assert.ok(play.world.whole);
        },
      ),
      cases(0.5),
    );
    assert.ok(moments > 1000, `${moments}`);
  },
);
