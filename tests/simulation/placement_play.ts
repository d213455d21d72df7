/**
 * One workload in the small world with webhook and controller, and what may happen to it.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { ClassCounts } from "../../shared/placement/node_classes.ts";
import { splitReplicas, type SplitSpec } from "../../shared/placement/split.ts";
import { PlacementProduct } from "./placement_product.ts";
import { PlacementWorld, type WorldNode, type WorldWorkload } from "./placement_world.ts";

/** What may happen. */
export type Happening =
  | { readonly does: "scale"; readonly to: number }
  | { readonly does: "spec"; readonly spec: SplitSpec }
  | { readonly does: "lose" | "interrupt" | "drain"; readonly which: number }
  | {
    readonly does:
      | "roll out"
      | "webhook down"
      | "webhook restarts"
      | "controller down"
      | "controller dies"
      | "all up"
      | "spot gone"
      | "nodes back";
  };

/** An incident. */
export interface Story {
  readonly kind: WorldWorkload["kind"];
  readonly replicas: number;
  readonly spec: SplitSpec;
  readonly lag: number;
  readonly budget: boolean;
  readonly events: readonly (readonly [afterS: number, what: Happening])[];
}

const NODES: readonly WorldNode[] = (["spot", "on-demand"] as const).flatMap((one) =>
  Array.from({ length: 4 }, () => ({ class: one, room: 8 }))
);

/** A world with its product, and what is asked of it in each second. */
export class Play {
  readonly world: PlacementWorld;
  readonly product: PlacementProduct;
  /** Whether it was whole when webhook and controller had their turn. */
  wasWhole = false;
  readonly #eachSecond: (play: Play) => void;
  readonly #lag: number;
  /** Replicas and floor as they were requested in each second so far. */
  readonly #requested: { readonly replicas: number; readonly floor: number }[] = [];

  constructor({ kind, replicas, spec, lag, budget }: Story, eachSecond: (play: Play) => void) {
    const workload = { kind, replicas, revision: 1 };
    this.world = new PlacementWorld(
      budget ? { ...workload, minAvailable: (wanted) => Math.floor(wanted / 2) } : workload,
      { nodes: NODES, lag },
    );
    this.world.addForeign();
    this.world.addForeign();
    this.product = new PlacementProduct(this.world, { spec, lag });
    this.#eachSecond = eachSecond;
    this.#lag = lag;
  }

  get counts(): ClassCounts {
    const counts = { spot: 0, "on-demand": 0 };
    for (const { node } of this.world.live) if (node !== undefined) counts[node.class]++;
    return counts;
  }

  get split(): ClassCounts {
    return splitReplicas(this.world.workload.replicas, this.product.spec);
  }

  /**
   * On-demand has as many replicas as it is to have at least, by what could be known when the last
   * eviction was decided: the way there and back takes its time. A scale-down on that way may have
   * taken others than it.
   */
  assertFloor(): void {
    const known = this.#requested.slice(-2 * this.#lag - 2);
    if (known.some(({ replicas }) => replicas > this.world.workload.replicas)) return;
    const floor = Math.min(...known.map((one) => one.floor));
    const there = this.counts["on-demand"];
    assert.ok(there >= floor, `${there} of ${floor} on-demand`);
  }

  async seconds(count: number): Promise<void> {
    for (let second = 0; second < count; second++) {
      this.world.tick(() => this.wasWhole = this.world.whole);
      const { replicas } = this.world.workload;
      const floor = Math.min(replicas, this.product.spec.minOnDemand);
      this.#requested.push({ replicas, floor });
      const allowed = this.world.disruptionsAllowed() ?? Infinity;
      const earlier = this.product.evictions.length;
      await this.product.second();
      const disrupted = this.product.evictions.slice(earlier).filter(({ ready }) => ready).length;
      assert.ok(disrupted <= allowed, `${disrupted} of ${allowed} were disrupted`);
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
      case "spec":
        product.spec = what.spec;
        break;
      case "lose": {
        const node = world.nodes[what.which];
        // One on-demand node stays, as the floor asks for capacity.
        const others = world.nodes.filter((one) => one !== node);
        if (
          node !== undefined &&
          others.some((one) => one.class === "on-demand" && this.#stays(one))
        ) {
          world.loseNode(node);
        }
        break;
      }
      case "interrupt":
      case "drain": {
        const node = world.nodes[what.which];
        const stays = world.nodes.some((one) =>
          one !== node && one.class === "on-demand" && this.#stays(one)
        );
        const leaving = what.does === "drain" ? world.draining : world.departing;
        if (node !== undefined && stays) leaving.add(node);
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
      case "controller dies":
        product.diesAfter = this.world.live.length % 3;
        break;
      case "all up":
        product.webhookUp = product.controllerUp = true;
        break;
      case "spot gone":
        for (const node of world.nodes) if (node.class === "spot") world.loseNode(node);
        break;
      case "nodes back":
        for (const node of world.departing) world.loseNode(node);
        world.departing.clear();
        // The drain that was to evict them leaves them.
        world.draining.clear();
        world.nodes.push(...NODES.filter((one) => !world.nodes.includes(one)));
        break;
    }
  }

  #stays(node: WorldNode): boolean {
    return !this.world.departing.has(node) && !this.world.draining.has(node);
  }

  async play({ events }: Pick<Story, "events">): Promise<void> {
    for (const [afterS, what] of events) {
      await this.seconds(afterS);
      this.happens(what);
    }
  }
}
