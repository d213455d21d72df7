/**
 * Properties of admission: bursts end exactly divided, in whatever order answers become pods.
 *
 * @module
 */
import { pure } from "../fixtures/pure.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import {
  admitPod,
  type AwaitedPod,
  noReservations,
  type Reservations,
} from "../../shared/placement/admit_pod.ts";
import { countByClass, type PlacedPod } from "../../shared/placement/placed_pod.ts";
import { splitReplicas, type SplitSpec } from "../../shared/placement/split.ts";
import { anySplitSpec } from "../fixtures/placement/placement_arbitrary.ts";
import { placedPod } from "../fixtures/placement/placed_pods.ts";

/**
 * How a server names a pod that it creates: with its UID, its name, or only what the name begins with.
 */
type Known = "uid" | "name" | "prefix";

/** What may happen in the course of a burst; numbers choose among the pods that it may happen to. */
interface Step {
  readonly does: "admit" | "ask" | "repeat" | "see" | "lose" | "wait";
  readonly which: number;
}

const RESERVED_MS = 30_000;
const STEPS = ["admit", "admit", "admit", "see", "see", "ask", "repeat", "lose", "wait"] as const;

const anySteps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.record({ does: fc.constantFrom(...STEPS), which: fc.nat() }),
  { maxLength: 120 },
);

/** A ReplicaSet that wants pods, a cache that is behind, and the webhook. */
class Burst {
  readonly seen: PlacedPod[] = [];
  readonly #known: Known;
  readonly #spec: SplitSpec;
  readonly #replicas: number;
  #reservations: Reservations = noReservations();
  #unseen: PlacedPod[] = [];
  /**
   * Refused by the server after they were admitted; made again once no request waits for them any more.
   */
  #lost = 0;
  #made = 0;
  #nowMs = 0;

  constructor(options: {
    readonly known: Known;
    readonly spec: SplitSpec;
    readonly replicas: number;
  }) {
    this.#known = options.known;
    this.#spec = options.spec;
    this.#replicas = options.replicas;
  }

  get done(): boolean {
    return this.seen.length === this.#replicas;
  }

  step({ does, which }: Step): void {
    const left = this.#replicas - this.seen.length - this.#unseen.length - this.#lost;
    const index = which % Math.max(1, this.#unseen.length);
    if (does === "admit" && left > 0) this.#unseen.push(this.#admitted(++this.#made));
    if (does === "ask") this.#answer(this.#pod(++this.#made), true);
    if (does === "repeat" && this.#known === "uid") this.#repeat(this.#unseen[index]);
    if (does === "see") this.seen.push(...this.#unseen.splice(index, 1));
    if (does === "lose") this.#lost += this.#unseen.splice(index, 1).length;
    if (does === "wait") this.#wait();
  }

  /** Caches are behind by less than a reservation lasts. */
  #wait(): void {
    this.seen.push(...this.#unseen);
    this.#unseen = [];
    this.#lost = 0;
    this.#nowMs += RESERVED_MS;
  }

  /** A server asks again, for instance since another webhook has changed the pod. */
  #repeat(pod: PlacedPod | undefined): void {
    if (pod !== undefined) assert.equal(this.#answer({ uid: pod.uid }, false), pod.class);
  }

  #admitted(number: number): PlacedPod {
    const answer = this.#answer(this.#pod(number), false);
    return placedPod(`web-${number}`, { class: answer });
  }

  #pod(number: number): AwaitedPod {
    const name = `web-${number}`;
    if (this.#known === "uid") return { uid: `uid-${name}`, generateName: "web-" };
    return this.#known === "name" ? { name } : { generateName: "web-" };
  }

  #answer(pod: AwaitedPod, dryRun: boolean): PlacedPod["class"] {
    const answer = admitPod(this.#reservations, {
      workload: { kind: "Deployment", replicas: this.#replicas },
      spec: this.#spec,
      pods: this.seen,
      shortage: "none",
      pod: { ...pod, revision: "r1" },
      dryRun,
      nowMs: this.#nowMs,
    });
    this.#reservations = answer.reservations;
    return answer.class;
  }
}

function played(burst: Burst, steps: readonly Step[]): void {
  for (const step of steps) burst.step(step);
  // The rest comes without disturbance.
  for (let rounds = 0; !burst.done; rounds++) {
    assert.ok(rounds < 1000, "the burst never ends");
    burst.step({ does: "admit", which: 0 });
    if (rounds % 7 === 6) burst.step({ does: "wait", which: 0 });
  }
}

const anyKnown = fc.constantFrom<Known>("uid", "name", "prefix");

pure(
  "a burst ends exactly divided, whatever is seen, lost, asked twice or only asked on the way",
  () => {
    fc.assert(
      fc.property(
        anyKnown,
        anySplitSpec,
        fc.integer({ min: 0, max: 40 }),
        anySteps,
        (known, spec, replicas, steps) => {
          const burst = new Burst({ known, spec, replicas });
          played(burst, steps);
          assert.deepEqual(countByClass(burst.seen), splitReplicas(replicas, spec));
        },
      ),
    );
  },
);

pure("a hundred pods at 70 % are 70 and 30", () => {
  fc.assert(
    fc.property(anyKnown, anySteps, (known, steps) => {
      const burst = new Burst({
        known,
        spec: { spotPercentage: 70, minOnDemand: 0 },
        replicas: 100,
      });
      played(burst, steps);
      assert.deepEqual(countByClass(burst.seen), { spot: 70, "on-demand": 30 });
    }),
  );
});

pure("no pod is on spot before the floor is filled", () => {
  fc.assert(
    fc.property(anySplitSpec, fc.integer({ min: 1, max: 30 }), (spec, replicas) => {
      let reservations = noReservations();
      for (let index = 0; index < Math.min(replicas, spec.minOnDemand); index++) {
        const answer = admitPod(reservations, {
          workload: { kind: "Deployment", replicas },
          spec,
          pods: [],
          shortage: "none",
          pod: { revision: "r1" },
          dryRun: false,
          nowMs: 0,
        });
        assert.equal(answer.class, "on-demand");
        reservations = answer.reservations;
      }
    }),
  );
});
