/** Properties of admission: bursts end exactly divided, in whatever order answers become pods. */
import fc from "fast-check";
import assert from "node:assert/strict";
import {
  admitPod,
  type AwaitedPod,
  noReservations,
  type Reservations,
} from "../../shared/placement/admit_pod.ts";
import { isWindowOpen, parseCronSchedule } from "../../shared/placement/disruption_window.ts";
import { placedFields } from "../../shared/placement/new_pod.ts";
import {
  capacityKeys,
  NODE_CLASS_PRESETS,
  type NodeClass,
  type NodeClasses,
  nodeClassesFaults,
  nodeClassOf,
} from "../../shared/placement/node_classes.ts";
import { countByClass, type PlacedPod } from "../../shared/placement/placed_pod.ts";
import { splitReplicas, type SplitSpec } from "../../shared/placement/split.ts";
import { anySplitSpec, placedPod } from "../fixtures/placement/placed_pods.ts";
import { pure } from "../fixtures/pure.ts";

/** How a server names a pod that it creates: with its name, or only what the name begins with. */
type Known = "name" | "prefix";

/** An event in the course of a burst; numbers choose among the pods that it may happen to. */
interface Step {
  readonly does: "admit" | "ask" | "see" | "lose" | "wait";
  readonly which: number;
}

const RESERVED_MS = 30_000;
const STEPS = ["admit", "admit", "admit", "see", "see", "ask", "lose", "wait"] as const;

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

  #admitted(number: number): PlacedPod {
    const answer = this.#answer(this.#pod(number), false);
    return placedPod(`web-${number}`, { class: answer });
  }

  #pod(number: number): AwaitedPod {
    const name = `web-${number}`;
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

const anyKnown = fc.constantFrom<Known>("name", "prefix");

pure("a burst ends exactly divided, whatever is seen, lost or asked about on the way", () => {
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
});

const MINUTE_MS = 60_000;

/** Zones that change their clocks at different hours, by half an hour, and never. */
const ZONES = [
  "UTC",
  "Europe/Berlin",
  "America/New_York",
  "America/Sao_Paulo",
  "Australia/Lord_Howe",
  "Asia/Kathmandu",
  "Pacific/Apia",
] as const;

/** Days on which a zone of these changes its clocks, in the night. */
const CHANGES = [
  ["Europe/Berlin", "2026-03-29"],
  ["Europe/Berlin", "2026-10-25"],
  ["America/New_York", "2026-03-08"],
  ["America/New_York", "2026-11-01"],
  ["Australia/Lord_Howe", "2026-04-05"],
] as const;

const anyZone = fc.constantFrom(...ZONES);
/** Half of the times lie within two days of a change. */
const anyTime = fc.oneof(
  fc.integer({ min: Date.UTC(2024, 0, 1), max: Date.UTC(2028, 0, 1) }),
  fc.tuple(
    fc.constantFrom(...CHANGES.map(([, day]) => day)),
    fc.integer({ min: -48 * 60, max: 48 * 60 }),
  ).map(([day, minutes]) => Date.parse(day) + minutes * MINUTE_MS),
);
const anyDuration = fc.integer({ min: 1, max: 3 * 24 * 60 }).map((minutes) => minutes * MINUTE_MS);
const anyMinute = fc.integer({ min: 0, max: 59 });

/** `09:30`, as the zone's clock shows it; making a format takes longer than using it. */
function clockOf(zone: string): (ms: number) => string {
  const format = new Intl.DateTimeFormat("en-GB", {
    timeZone: zone,
    hour: "2-digit",
    minute: "2-digit",
  });
  return (ms) => format.format(ms);
}

pure("a schedule's next time is the next minute at which the zone's clock shows it", () => {
  // No zone of the list changes its clocks at these hours.
  const quietHour = fc.integer({ min: 4, max: 22 });
  // From a noon over a change to the next morning, in each of them, whatever else is drawn.
  const examples = CHANGES.map((
    [zone, day],
  ): [number, typeof zone, number, number] => [Date.parse(day) - 12 * 60 * MINUTE_MS, zone, 5, 30]);
  let changes = 0;
  fc.assert(
    fc.property(anyTime, anyZone, quietHour, anyMinute, (after, zone, hour, minute) => {
      const shown = `${String(hour).padStart(2, "0")}:${String(minute).padStart(2, "0")}`;
      const next = parseCronSchedule(`CRON_TZ=${zone} ${minute} ${hour} * * *`).next(after);
      let expected = (Math.floor(after / MINUTE_MS) + 1) * MINUTE_MS;
      const clock = clockOf(zone);
      while (clock(expected) !== shown) expected += MINUTE_MS;
      assert.equal(next, expected);
      // The clock would show the same a whole number of days earlier.
      if (clock(expected - 24 * 60 * MINUTE_MS) !== shown) changes++;
    }),
    { examples },
  );
  assert.ok(changes >= examples.length, `only ${changes} cases over a change of clocks`);
});

pure("a window is open exactly from an opening on, for as long as it lasts", () => {
  const seen = new Set<boolean>();
  const anyHour = fc.constantFrom("*", "*/6", "0", "1", "2", "3", "12", "23");
  fc.assert(
    fc.property(
      fc.tuple(anyZone, anyMinute, anyHour),
      anyTime,
      anyDuration,
      ([zone, minute, hour], now, durationMs) => {
        const schedule = `CRON_TZ=${zone} ${minute} ${hour} * * *`;
        const window = { schedule, durationMs };
        const { next } = parseCronSchedule(schedule);
        // Goes through the openings one by one; each day has one, whatever its clocks do.
        let opening = next(now - durationMs - 3 * 24 * 60 * MINUTE_MS);
        let open = false;
        let before = -Infinity;
        while (opening !== undefined && opening <= now) {
          assert.ok(
            opening > before && opening - before <= (before < 0 ? Infinity : 27 * 3_600_000),
          );
          open ||= now < opening + durationMs;
          before = opening;
          opening = next(opening);
        }
        seen.add(open);
        assert.equal(isWindowOpen(window, now), open);
        assert.equal(next(now), opening);
        assert.ok(opening !== undefined && isWindowOpen(window, opening));
      },
    ),
  );
  assert.equal(seen.size, 2);
});

const anyKey = fc.constantFrom("pool", "type", "cloud.google.com/gke-spot", "disk", "__proto__");
const anyValue = fc.constantFrom("spot", "steady", "true", "ssd");
const anyLabels = fc.dictionary(anyKey, anyValue, { maxKeys: 3 });
const anySelector = fc.record({
  matchLabels: fc.dictionary(anyKey, anyValue, { minKeys: 1, maxKeys: 2 }),
  matchExpressions: fc.array(
    fc.record({
      key: anyKey,
      operator: fc.constantFrom("In" as const, "NotIn" as const),
      values: fc.array(anyValue, { minLength: 1, maxLength: 2 }),
    }),
    { maxLength: 1 },
  ),
});
const anyToleration = fc.record({
  key: anyKey,
  operator: fc.constantFrom("Exists" as const, "Equal" as const),
  effect: fc.constantFrom("NoSchedule" as const, "NoExecute" as const),
});
const anyNodes = fc.record({
  selectors: fc.array(anySelector, { maxLength: 3 }),
  tolerations: fc.array(anyToleration, { maxLength: 2 }),
});
const anyClasses: fc.Arbitrary<NodeClasses> = fc.oneof(
  fc.constantFrom(...Object.values(NODE_CLASS_PRESETS)),
  fc.record({ spot: anyNodes, "on-demand": anyNodes })
    .filter((classes) => nodeClassesFaults(classes).length === 0),
);
const anyClass: fc.Arbitrary<NodeClass> = fc.constantFrom("spot", "on-demand");
const anyPod = fc.record({
  nodeSelector: anyLabels,
  tolerations: fc.array(anyToleration, { maxLength: 3 }),
});

pure("placedFields() leads to nodes of the class, keeps other terms, and settles at once", () => {
  fc.assert(
    fc.property(anyPod, anyClass, anyClasses, (pod, to, classes) => {
      const placed = placedFields(pod, { to, classes });
      const capacity = capacityKeys(classes);
      // A node that has what the selector asks of capacity, and no more of it.
      const asked = Object.entries(placed.nodeSelector).filter(([key]) => capacity.has(key));
      assert.equal(nodeClassOf(Object.fromEntries(asked), classes), to);
      for (const [key, value] of Object.entries(pod.nodeSelector)) {
        if (!capacity.has(key)) assert.equal(placed.nodeSelector[key], value);
      }
      for (const one of classes[to].tolerations) assert.ok(placed.tolerations.includes(one));
      assert.deepEqual(placedFields(placed, { to, classes }), placed);
      const other: NodeClass = to === "spot" ? "on-demand" : "spot";
      const moved = placedFields(placed, { to: other, classes });
      assert.deepEqual(
        moved.nodeSelector,
        placedFields(pod, { to: other, classes }).nodeSelector,
      );
    }),
  );
});
