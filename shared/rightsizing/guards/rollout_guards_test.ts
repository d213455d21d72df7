import assert from "node:assert/strict";
import {
  clampsOf,
  type FactsChoice,
  MI,
  NOW_MS,
  outcomeOf,
  recommendation,
  rightsizingFacts,
  templateContainer,
  workloadPod,
} from "../../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import type { WrittenOver } from "../workload_record.ts";
import { decideRightsizing } from "./decide_rightsizing.ts";
import type { RightsizedWorkload } from "./rightsizing_facts.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const { workload } = rightsizingFacts();
const withState = (change: Partial<RightsizedWorkload>): string =>
  outcomeOf({ workload: { ...workload, ...change } });

test("rolloutHolds() waits for a rollout to end, and for a paused one to go on", () => {
  const rollout = { updated: 1, total: 3, stands: false };
  assert.match(
    withState({ rollout }),
    /^RolloutHolds RolloutInProgress: Deployment web .*1 of 3 pods /,
  );
  assert.match(withState({ paused: true }), /^RolloutHolds RolloutPaused: .*Deployment web /);
  assert.match(withState({ rollout: { ...rollout, updated: 3 } }), /^InPlace: /);
  assert.match(withState({ rollout: { ...rollout, stands: true } }), /^InPlace: /);
});

const VALUES = { requests: { cpu: 150, memory: 96 * MI }, limits: {} };

/** A workload with the recommendation in its template. */
function recreated(stands: boolean, choice: FactsChoice = {}): FactsChoice {
  return {
    workload: {
      ...workload,
      rollout: { updated: 0, total: 2, stands },
      template: { containers: [templateContainer(VALUES)], initContainers: [] },
    },
    inForce: new Map([["app", VALUES]]),
    strategy: { allowInPlaceResize: false, allowRecreate: true },
    ...choice,
  };
}

test("notRolledOut() reports pods that are not replaced, and holds nothing", () => {
  const decision = decideRightsizing(rightsizingFacts(recreated(true)));
  assert.ok(decision.outcome === "hold" && decision.restOnly);
  assert.equal(decision.reason, "NotRolledOut");
  assert.match(decision.message, /Deployment web .*2 pods .*web-1 /);
  const first = recreated(true, { inForce: new Map() });
  assert.match(
    outcomeOf({
      ...first,
      workload: { ...workload, rollout: { updated: 0, total: 2, stands: true } },
    }),
    /^Recreate: /,
  );
});

test("notRolledOut() says nothing where pods have the values, are being replaced, or are resized", () => {
  const pods = [workloadPod("web-1", [templateContainer(VALUES)])];
  assert.match(outcomeOf(recreated(true, { pods })), /^BelowThreshold /);
  assert.match(outcomeOf(recreated(false)), /^RolloutHolds /);
  assert.deepEqual(clampsOf(recreated(true, { strategy: {} })), []);
});

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const BY_ROLLOUT = { allowInPlaceResize: false, allowRecreate: true };

/** What was recommended was written; the template says 100 m and 64 Mi. */
function taken(
  { cpu = 150, memory = 96 * MI, ...fields }: Partial<WrittenOver> & {
    readonly cpu?: number;
    readonly memory?: number;
  } = {},
): FactsChoice {
  const over = { atMs: NOW_MS - HOUR_MS, takenBackAtMs: NOW_MS, times: 1, ...fields };
  const written = {
    cpu: { pair: { request: cpu }, ...over },
    memory: { pair: { request: memory }, ...over },
  };
  return {
    strategy: BY_ROLLOUT,
    remembered: [{ container: "app", author: {}, editedAtMs: {}, written }],
  };
}

test("takenBack() holds what was written into the template and is not there any more", () => {
  assert.match(
    outcomeOf(taken()),
    /^TakenBack TakenBack: app cpu 150m .*2027-01-16T08:00:00.*; app memory 96Mi .*2027-01-16T08:00/,
  );
  const hardly = [recommendation({ cpu: 160, memory: 90 * MI })];
  assert.match(outcomeOf({ ...taken(), recommendations: hardly }), /^TakenBack /);
});

test("takenBack() waits for a day, and twice as long each time that it was taken back soon", () => {
  const days = (ago: number, times: number): string =>
    outcomeOf(taken({ takenBackAtMs: NOW_MS - ago * DAY_MS, times }));
  for (const [times, most] of [[0, 1], [1, 1], [2, 2], [3, 4], [6, 32], [60, 32]] as const) {
    assert.match(days(most - 0.1, times), /^TakenBack /, `${times}`);
    assert.match(days(most, times), /^Recreate: /, `${times}`);
  }
});

test("takenBack() waits for each resource by its own time", () => {
  const { remembered: [one = assert.fail()] = [] } = taken();
  const { cpu, memory } = one.written ?? {};
  assert.ok(cpu !== undefined && memory !== undefined);
  const written = { cpu: { ...cpu, takenBackAtMs: NOW_MS - DAY_MS }, memory };
  assert.equal(
    outcomeOf({ ...taken(), remembered: [{ ...one, written }] }),
    "Recreate: app cpu 150m",
  );
});

test("takenBack() lets pods get in place what only goes by a rollout beside something else", () => {
  const containers = [templateContainer({ restartsOnMemory: true })];
  const strategy = { allowInPlaceResize: true, allowRecreate: true };
  assert.equal(outcomeOf({ containers, strategy }), "Recreate: app cpu 150m, app memory 96Mi");
  assert.equal(outcomeOf({ ...taken(), containers, strategy }), "InPlace: app cpu 150m");
});

test("takenBack() lets a recommendation be tried that differs enough from what was written", () => {
  const recommendations = [recommendation({ cpu: 200 })];
  assert.equal(outcomeOf({ ...taken(), recommendations }), "Recreate: app cpu 200m");
});

test("takenBack() says nothing where the template is near enough to what is recommended", () => {
  const recommendations = [recommendation({ cpu: 105, memory: 66 * MI })];
  const written = taken({ cpu: 112, memory: 70 * MI });
  assert.match(outcomeOf({ ...written, recommendations }), /^BelowThreshold /);
});

test("takenBack() has nothing against values that stand, that were never written, or that pods get in place", () => {
  const containers = [
    templateContainer({ requests: { cpu: 150, memory: 96 * MI }, limits: { cpu: 300 } }),
  ];
  const recommendations = [recommendation({ cpu: 170, memory: 120 * MI })];
  assert.match(
    outcomeOf({ ...taken(), containers, recommendations }),
    /^Recreate: app cpu 170m, app memory 120Mi/,
  );
  const written = { cpu: { pair: { request: 150 }, atMs: NOW_MS, times: 0 } };
  const remembered = [{ container: "app", author: {}, editedAtMs: {}, written }];
  assert.match(outcomeOf({ strategy: BY_ROLLOUT, remembered }), /^Recreate: /);
  assert.match(outcomeOf({ strategy: BY_ROLLOUT }), /^Recreate: /);
  assert.match(outcomeOf({ ...taken(), strategy: {} }), /^InPlace: /);
});
