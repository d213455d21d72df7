/**
 * Placement in a small world: what holds whatever happens, and what things come to once they are quiet.
 *
 * @module
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import type { ClassCounts, NodeClass } from "../../shared/placement/node_class.ts";
import { splitReplicas, type SplitWish } from "../../shared/placement/split_replicas.ts";
import { PlacementProduct } from "./placement_product.ts";
import { PlacementWorld, type WorldNode, type WorldWorkload } from "./placement_world.ts";

/** What may happen. */
type Happening =
  | { readonly does: "scale"; readonly to: number }
  | { readonly does: "wish"; readonly wish: SplitWish }
  | { readonly does: "lose"; readonly which: number }
  | {
    readonly does:
      | "roll out"
      | "webhook down"
      | "webhook restarts"
      | "controller down"
      | "all up"
      | "spot gone"
      | "nodes back";
  };

interface Story {
  readonly kind: WorldWorkload["kind"];
  readonly replicas: number;
  readonly wish: SplitWish;
  readonly lag: number;
  readonly budget: boolean;
  readonly events: readonly (readonly [afterS: number, what: Happening])[];
}

/** Longer than the product waits for anything: than a fallback and the patience after it. */
const QUIET_S = 240;

const NODES: readonly WorldNode[] = (["spot", "on-demand"] as const).flatMap((one) =>
  Array.from({ length: 4 }, () => ({ class: one, room: 8 }))
);

const anyWish: fc.Arbitrary<SplitWish> = fc.record({
  spotPercentage: fc.oneof(fc.integer({ min: 0, max: 100 }), fc.constantFrom(0, 50, 70, 100)),
  minOnDemand: fc.integer({ min: 0, max: 4 }),
});
const anyReplicas = fc.integer({ min: 0, max: 12 });
const anyScale = fc.record({ does: fc.constant("scale" as const), to: anyReplicas });
const anyRollout = fc.constant({ does: "roll out" as const });
const anyHappening: fc.Arbitrary<Happening> = fc.oneof(
  anyScale,
  anyRollout,
  fc.record({ does: fc.constant("wish" as const), wish: anyWish }),
  fc.record({ does: fc.constant("lose" as const), which: fc.nat(7) }),
  fc.record({
    does: fc.constantFrom(
      "webhook down" as const,
      "webhook restarts" as const,
      "controller down" as const,
      "all up" as const,
      "spot gone" as const,
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
    wish: anyWish,
    lag: fc.integer({ min: 0, max: 3 }),
    budget: fc.boolean(),
    events: fc.array(fc.tuple(everyS, event), { maxLength: 10 }),
  });
}

/** A world with its product, and what is asked of it in each second. */
class Play {
  readonly world: PlacementWorld;
  readonly product: PlacementProduct;
  /** Whether it was whole when webhook and controller had their turn. */
  wasWhole = false;
  readonly #eachSecond: (play: Play) => void;

  constructor({ kind, replicas, wish, lag, budget }: Story, eachSecond: (play: Play) => void) {
    const workload = { kind, replicas, revision: 1 };
    this.world = new PlacementWorld(
      budget ? { ...workload, minAvailable: (wanted) => Math.floor(wanted / 2) } : workload,
      { nodes: NODES, lag },
    );
    this.world.addForeign();
    this.world.addForeign();
    this.product = new PlacementProduct(this.world, wish);
    this.#eachSecond = eachSecond;
  }

  get counts(): ClassCounts {
    const counts = { spot: 0, "on-demand": 0 };
    for (const { node } of this.world.live) if (node !== undefined) counts[node.class]++;
    return counts;
  }

  get split(): ClassCounts {
    return splitReplicas(this.world.workload.replicas, this.product.wish);
  }

  /** On-demand has as many replicas as it is to have at least. */
  assertFloor(): void {
    const { counts, world: { workload: { replicas } }, product: { wish } } = this;
    const floor = Math.min(replicas, wish.minOnDemand);
    assert.ok(counts["on-demand"] >= floor, `${counts["on-demand"]} of ${floor} on-demand`);
  }

  seconds(count: number): void {
    for (let second = 0; second < count; second++) {
      this.world.tick(() => {
        this.wasWhole = this.world.whole;
        this.product.reconcile();
      });
      this.#eachSecond(this);
    }
  }

  happens(what: Happening): void {
    const { world, product } = this;
    switch (what.does) {
      case "scale":
        world.workload.replicas = what.to;
        break;
      case "roll out":
        world.workload.revision++;
        break;
      case "wish":
        product.wish = what.wish;
        break;
      case "lose": {
        const node = world.nodes[what.which];
        // One on-demand node stays, as the floor asks for capacity.
        const others = world.nodes.filter((one) => one !== node);
        if (node !== undefined && others.some((one) => one.class === "on-demand")) {
          world.loseNode(node);
        }
        break;
      }
      case "webhook down":
        product.webhookUp = false;
        break;
      case "webhook restarts":
        product.restartWebhook();
        break;
      case "controller down":
        product.controllerUp = false;
        break;
      case "all up":
        product.webhookUp = product.controllerUp = true;
        break;
      case "spot gone":
        for (const node of world.nodes) if (node.class === "spot") world.loseNode(node);
        break;
      case "nodes back":
        world.nodes.push(...NODES.filter((one) => !world.nodes.includes(one)));
        break;
    }
  }

  tell({ events }: Pick<Story, "events">): void {
    for (const [afterS, what] of events) {
      this.seconds(afterS);
      this.happens(what);
    }
  }
}

function property(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

property(
  "once things are quiet the replicas run as the formula says, whatever has happened",
  () => {
    const met = new Set<string>();
    fc.assert(
      fc.property(
        anyStory(anyHappening, {
          kind: fc.constantFrom("Deployment" as const, "StatefulSet" as const),
          everyS: fc.integer({ min: 0, max: 60 }),
        }),
        (story) => {
          let wholeSince = true;
          let moves = 0;
          const foreign = new Set(["foreign-1", "foreign-2"]);
          const play: Play = new Play(story, ({ wasWhole, world, product }) => {
            if (wasWhole) wholeSince = true;
            const made = product.evictions.filter(({ why }) => why === "move").length;
            if (made > moves) {
              assert.equal(made, moves + 1, "two moves at once");
              assert.ok(wholeSince, "a move before the one before it was over");
              moves = made;
              wholeSince = false;
              const uid = product.evictions.at(-1)?.uid;
              const moved = world.pods.find((pod) => pod.uid === uid);
              if (wasWhole && moved?.node?.class === "on-demand") play.assertFloor();
            }
            for (const { uid } of product.evictions) assert.ok(!foreign.has(uid), uid);
          });
          play.tell(story);
          play.happens({ does: "all up" });
          play.happens({ does: "nodes back" });
          let quiet = 0;
          for (let second = 0; second < 4000 && quiet < QUIET_S; second++) {
            const before = play.product.evictions.length;
            play.seconds(1);
            quiet = play.world.whole && play.product.evictions.length === before ? quiet + 1 : 0;
          }
          assert.ok(quiet >= QUIET_S, "it never becomes quiet");
          assert.deepEqual(play.counts, play.split);
          for (const { why } of play.product.evictions) met.add(why);
        },
      ),
      { numRuns: 150 },
    );
    assert.deepEqual(met, new Set(["move", "stranded"]));
  },
);

property(
  "a Deployment that is scaled and rolled out is divided at every moment that it is whole",
  () => {
    let moments = 0;
    fc.assert(
      fc.property(
        anyStory(fc.oneof(anyScale, anyRollout), {
          kind: fc.constant("Deployment"),
          everyS: fc.integer({ min: 15, max: 60 }),
        }),
        (story) => {
          const play: Play = new Play(story, ({ world, counts, split, product }) => {
            if (world.whole) {
              assert.deepEqual(counts, split);
              moments++;
            }
            assert.deepEqual(product.evictions, []);
          });
          play.tell(story);
          play.seconds(60);
          assert.ok(play.world.whole);
        },
      ),
      { numRuns: 150 },
    );
    assert.ok(moments > 1000, `${moments}`);
  },
);

/** A story told by hand, after the workload has come up. */
function begun(changes: Partial<Story>, eachSecond: (play: Play) => void = () => {}): Play {
  const story = {
    kind: "Deployment" as const,
    replicas: 10,
    wish: { spotPercentage: 70, minOnDemand: 2 },
    lag: 1,
    budget: true,
    events: [],
    ...changes,
  };
  const play = new Play(story, eachSecond);
  play.seconds(30);
  assert.deepEqual(play.counts, play.split);
  return play;
}

function scene(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

scene("replicas of a spot node that dies run on another spot node", () => {
  const play = begun({ replicas: 3, wish: { spotPercentage: 100, minOnDemand: 0 } });
  const node = play.world.live[0]?.node;
  assert.equal(node?.class, "spot" satisfies NodeClass);
  play.world.loseNode(node);
  play.seconds(20);
  assert.deepEqual(play.counts, { spot: 3, "on-demand": 0 });
  assert.deepEqual(play.product.evictions, []);
});

scene(
  "without spot nodes replicas run on-demand, and return one by one when there are some again",
  () => {
    for (const kind of ["Deployment", "StatefulSet"] as const) {
      const play = begun({ kind });
      play.happens({ does: "spot gone" });
      play.seconds(100);
      assert.deepEqual(play.counts, { spot: 0, "on-demand": 10 }, kind);
      play.seconds(300);
      play.happens({ does: "nodes back" });
      let least = Infinity;
      for (let second = 0; second < 600; second++) {
        play.seconds(1);
        least = Math.min(least, play.counts["on-demand"] + play.counts.spot);
      }
      assert.deepEqual(play.counts, { spot: 7, "on-demand": 3 }, kind);
      assert.equal(least, 9, kind);
    }
  },
);

scene("another share is come to by moves, one at a time", () => {
  for (const kind of ["Deployment", "StatefulSet"] as const) {
    const play = begun({ kind, wish: { spotPercentage: 50, minOnDemand: 1 } });
    play.happens({ does: "wish", wish: { spotPercentage: 80, minOnDemand: 1 } });
    play.seconds(120);
    assert.deepEqual(play.counts, { spot: 8, "on-demand": 2 });
    assert.equal(play.product.evictions.length, 3);
  }
});

scene("what was made while the webhook was down is moved afterwards", () => {
  const play = begun({ replicas: 0 });
  play.happens({ does: "webhook down" });
  play.happens({ does: "scale", to: 10 });
  play.seconds(10);
  play.happens({ does: "all up" });
  play.seconds(200);
  assert.deepEqual(play.counts, { spot: 7, "on-demand": 3 });
});
