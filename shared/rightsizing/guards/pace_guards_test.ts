import type { ContainerFields } from "../../../tests/fixtures/container_fields.ts";
import assert from "node:assert/strict";
import {
  autoPolicy,
  bareContainer,
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
import type { UpdateStrategy } from "../policy_spec.ts";
import { decideRightsizing } from "./decide_rightsizing.ts";
import { isWorth } from "./pace_guards.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

test("isWorth() asks for the percentage of what is there, and for a difference at all", () => {
  const percent = 10;
  assert.equal(isWorth(100, 110, { percent }), true);
  assert.equal(isWorth(100, 109, { percent }), false);
  assert.equal(isWorth(100, 90, { percent }), true);
  assert.equal(isWorth(100, 91, { percent }), false);
  assert.equal(isWorth(100, 100, { percent: 0 }), false);
  assert.equal(isWorth(100, 101, { percent: 0 }), true);
  assert.equal(isWorth(undefined, 1, { percent }), true);
  assert.equal(isWorth(100, undefined, { percent: 0 }), false);
});

test("belowThreshold() leaves out resources that would hardly change, and holds when all would", () => {
  const recommendations = [recommendation({ cpu: 109, memory: 80 * MI })];
  assert.equal(outcomeOf({ recommendations }), "InPlace: app memory 80Mi");
  const hardly = [recommendation({ cpu: 109, memory: 60 * MI })];
  assert.match(
    outcomeOf({ recommendations: hardly }),
    /^BelowThreshold BelowThreshold: app cpu 109m .* 10 %; app memory 60Mi .* 10 %$/,
  );
  assert.match(
    outcomeOf({ recommendations: hardly, strategy: { changeThresholdPercent: 5 } }),
    /^InPlace: app cpu 109m, app memory 60Mi/,
  );
});

test("belowThreshold() keeps a request with a limit that is worth it", () => {
  const recommendations = [
    recommendation({ cpu: 105, cpuLimit: 300, memory: 64 * MI, memoryLimit: 128 * MI }),
  ];
  const strategy = { updateRequestsOnly: false };
  assert.equal(outcomeOf({ recommendations, strategy }), "InPlace: app cpu 105m (limit 300m)");
});

test("belowThreshold() compares with what is in force, and with pods where nothing is", () => {
  const resized = templateContainer({ requests: { cpu: 150, memory: 96 * MI } });
  const pods = [workloadPod("web-1", [resized])];
  const inForce = new Map([["app", { requests: { cpu: 150, memory: 96 * MI }, limits: {} }]]);
  assert.match(outcomeOf({ pods, inForce }), /^BelowThreshold /);
  assert.match(outcomeOf({ pods }), /^InPlace: /);
  const late = rightsizingFacts().pods;
  assert.match(outcomeOf({ pods: late, inForce }), /^BelowThreshold /);
  const strategy = { allowInPlaceResize: false, allowRecreate: true };
  assert.match(outcomeOf({ pods, inForce, strategy }), /^Recreate: /);
  // Each resource for itself: of CPU nothing is in force.
  const memory = new Map([["app", { requests: { memory: 96 * MI }, limits: {} }]]);
  assert.equal(outcomeOf({ pods: late, inForce: memory }), "InPlace: app cpu 150m");
  // A limit that is to follow a request in force is worth it.
  assert.equal(
    outcomeOf({ pods, inForce, strategy: { updateRequestsOnly: false } }),
    "InPlace: app cpu 150m (limit 180m), app memory 96Mi (limit 112Mi)",
  );
});

const HOUR_MS = 3_600_000;

/** The template says 100 m and 64 Mi of `app`: more CPU is recommended, and less memory. */
function edited(hoursAgo: number, choice: FactsChoice = {}): FactsChoice {
  const editedAtMs = { cpu: NOW_MS - hoursAgo * HOUR_MS, memory: NOW_MS - hoursAgo * HOUR_MS };
  return {
    recommendations: [recommendation({ memory: 32 * MI })],
    remembered: [{ container: "app", author: {}, editedAtMs }],
    ...choice,
  };
}

test("recentlyEdited() lets nothing be lowered of what was seen before the author's edit", () => {
  assert.equal(outcomeOf(edited(1)), "InPlace: app cpu 150m");
  assert.equal(outcomeOf(edited(23.9)), "InPlace: app cpu 150m");
  assert.equal(outcomeOf(edited(24)), "InPlace: app cpu 150m, app memory 32Mi");
  const less = [recommendation({ cpu: 50, memory: 32 * MI })];
  assert.match(
    outcomeOf(edited(1, { recommendations: less })),
    /^RecentlyEdited RecentlyEdited: app cpu .*50m: .* cpu .*since 2027-01-15T07:00:00/,
  );
});

test("recentlyEdited() says that pods from before may be there", () => {
  const recommendations = [recommendation({ cpu: 50, memory: 32 * MI })];
  const remembered = [{
    container: "app",
    author: {},
    editedAtMs: { cpu: NOW_MS },
    oldBeforeMs: { cpu: NOW_MS - 48 * HOUR_MS },
  }];
  const [clamp, ...more] = clampsOf({ recommendations, remembered });
  assert.match(clamp ?? "", /^RecentlyEdited .*app cpu to 50m: .* pods .*2027-01-16T08:00:00/);
  assert.deepEqual(more, []);
});

test("recentlyEdited() waits for the cooldown, too, and by whatever method", () => {
  const strategy = { cooldownMs: 48 * HOUR_MS, allowInPlaceResize: false, allowRecreate: true };
  const policy = autoPolicy(strategy);
  assert.equal(outcomeOf(edited(25, { policy })), "Recreate: app cpu 150m");
  assert.equal(outcomeOf(edited(48, { policy })), "Recreate: app cpu 150m, app memory 32Mi");
});

test("recentlyEdited() has nothing against what nobody has edited", () => {
  const remembered = [{ container: "app", author: {}, editedAtMs: { cpu: NOW_MS } }];
  assert.equal(outcomeOf(edited(1, { remembered })), "InPlace: app cpu 150m, app memory 32Mi");
});

test("recentlyEdited() lets a request be raised beside a limit that would be lowered, and the other way round", () => {
  const template = { requests: { cpu: 200, memory: 512 * MI }, limits: {} };
  const recommendations = [
    recommendation({ cpu: 600, cpuLimit: 700, memory: 960 * MI, memoryLimit: 1056 * MI }),
  ];
  const of = (limits: ContainerFields, strategy: Partial<UpdateStrategy> = {}) =>
    outcomeOf(edited(1, {
      containers: [
        bareContainer("app", {
          ...template,
          ...limits,
          requests: { ...template.requests, ...limits.requests },
          limits: { ...template.limits, ...limits.limits },
        }),
      ],
      recommendations,
      strategy: { updateRequestsOnly: false, ...strategy },
      memoryPeaks: new Map([["app", 800 * MI]]),
    }));
  const rollout = { allowInPlaceResize: false, allowRecreate: true };
  const raised = "app cpu 600m, app memory 960Mi";
  assert.equal(of({}), `InPlace: ${raised}`, "no limit comes where there was none");
  assert.equal(of({}, rollout), `Recreate: ${raised}`);
  assert.equal(of({ limits: { cpu: 800, memory: 2048 * MI } }), `InPlace: ${raised}`);
  const below = { requests: {}, limits: { cpu: 650, memory: 1000 * MI } };
  const both = "app cpu 600m (limit 700m), app memory 960Mi (limit 1056Mi)";
  assert.equal(of(below), `InPlace: ${both}`);
  const more = { requests: { cpu: 640, memory: 990 * MI }, limits: {} };
  const limits = "app cpu limit 700m, app memory limit 1056Mi";
  assert.equal(
    of({
      ...more,
      ...below,
      requests: { ...more.requests, ...below.requests },
      limits: { ...more.limits, ...below.limits },
    }, { changeThresholdPercent: 1 }),
    `InPlace: ${limits}`,
  );
});

test("recentlyEdited() says which limit is not lowered, where that is all that there is", () => {
  const recommendations = [recommendation({ memory: 64 * MI, memoryLimit: 96 * MI, cpu: 100 })];
  const strategy = { updateRequestsOnly: false };
  assert.match(
    outcomeOf(edited(1, { recommendations, strategy })),
    /^RecentlyEdited .*app memory limit .*96Mi: .* memory .*since /,
  );
});

test("recentlyEdited() moves nothing of a Guaranteed pod that would be lowered", () => {
  const equal = { requests: { cpu: 200, memory: 64 * MI }, limits: { cpu: 200, memory: 64 * MI } };
  const outcome = outcomeOf(edited(1, {
    containers: [bareContainer("app", equal)],
    recommendations: [recommendation({ cpu: 300, cpuLimit: 600, memory: 32 * MI })],
    strategy: { updateRequestsOnly: false },
  }));
  assert.equal(outcome, "InPlace: app cpu 300m (limit 300m)");
});

const MINUTE_MS = 60_000;

test("coolingDown() holds for the rest of the cooldown", () => {
  const at = (lastAppliedMs: number) => decideRightsizing(rightsizingFacts({ lastAppliedMs }));
  const decision = at(NOW_MS - 29 * MINUTE_MS);
  assert.ok(decision.outcome === "hold");
  assert.deepEqual([decision.reason, decision.retryAfterMs], ["Cooldown", MINUTE_MS]);
  assert.equal(at(NOW_MS - 30 * MINUTE_MS).outcome, "apply");
  assert.match(outcomeOf(), /^InPlace: /);
});

test("coolingDown() does not wait for a change in the future, after a clock was set back", () => {
  const decision = decideRightsizing(rightsizingFacts({ lastAppliedMs: NOW_MS + 1e9 }));
  assert.equal(decision.outcome, "apply");
});
