import assert from "node:assert/strict";
import {
  caseText,
  WORDED_CASES,
  wordedWorkload,
} from "../../tests/fixtures/placement/worded_workloads.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import {
  DISRUPTION_DURATION,
  DISRUPTION_SCHEDULE,
  ENABLED,
  MIN_ON_DEMAND,
  PAUSED,
  SPOT_PERCENTAGE,
} from "../api/placement_keys.ts";
import type { Labels } from "../api/label_selector.ts";
import { checkEligibility, type EligibilityInput, type PlacementScope } from "./eligibility.ts";
import { assertLines, assertTexts, messageOf } from "../../tests/fixtures/assert_sentences.ts";
import {
  placedPod,
  placedPods,
  sampleBudget,
  wholeInput,
} from "../../tests/fixtures/placement/placed_pods.ts";
import { PLACEMENT_DEFAULTS } from "../../tests/fixtures/placement/placement_defaults.ts";
import type { PodDisruptionBudget } from "../api/pod_disruption_budget.ts";
import { budgetRefusal, pinnedBy, protectedBy, selectorConstraints } from "./node_constraints.ts";
import { parseCronSchedule, parseWindowDuration } from "./disruption_window.ts";
import { decideMove, type MoveDecisionInput } from "./decide_move.ts";
import { NODE_CLASS_PRESETS, nodeClassesFaults, nodeClassifierKind } from "./node_classes.ts";
import type { PlacedPod } from "./placed_pod.ts";
import { forecastStep } from "./forecast_step.ts";
import { readStatus, refusedStatus } from "./status.ts";
import { departureSignsKind } from "./node_departure.ts";
import { placementFaults } from "./settings.ts";
import { refusalOf } from "../config/kinds.ts";

const SCOPE: PlacementScope = { ownNamespace: "coallocator" };

pure("checkEligibility() agrees with the admission policy", () => {
  for (const one of WORDED_CASES) {
    const answer = checkEligibility(wordedWorkload(one), SCOPE);
    assert.equal(answer.spec === undefined ? answer.reason : "valid", one.is, caseText(one));
    assert.equal(answer.faults?.[0]?.key, one.fault, caseText(one));
  }
});

pure("checkEligibility() gives the spec of the annotations", () => {
  const namespace = { name: "shop", metadata: { labels: {}, annotations: {} } };
  const least = { [SPOT_PERCENTAGE]: "70%" };
  const all = {
    ...{ [ENABLED]: "true", [SPOT_PERCENTAGE]: "0%", [MIN_ON_DEMAND]: "10000", [PAUSED]: "true" },
    [DISRUPTION_SCHEDULE]: "CRON_TZ=Asia/Tokyo 0 2 * * *",
    [DISRUPTION_DURATION]: "90m",
  };
  const specOf = (annotations: Labels, scope: Partial<PlacementScope> = {}) => {
    const labels = { [ENABLED]: "true" };
    return checkEligibility({ labels, annotations, namespace }, { ...SCOPE, ...scope });
  };
  const own = { schedule: "CRON_TZ=Asia/Tokyo 0 2 * * *", durationMs: 5_400_000 };
  assert.deepEqual(specOf(all), {
    spec: { spotPercentage: 0, minOnDemand: 10_000, window: own, paused: true },
  });
  const spec = { spotPercentage: 70, minOnDemand: 0, paused: false };
  assert.deepEqual(specOf(least), { spec });
  const window = { schedule: "0 2 * * *", durationMs: 1000 };
  assert.deepEqual(specOf(least, { window }), { spec: { ...spec, window } });
});

function gate(changes: Partial<EligibilityInput>, scope: Partial<PlacementScope> = {}): string {
  const web = { labels: { [ENABLED]: "true" }, annotations: {} };
  const subject = { ...web, namespace: { name: "shop" }, ...changes };
  const answer = checkEligibility(subject, { ownNamespace: "coallocator", ...scope });
  return answer.spec === undefined ? answer.message : "takes part";
}

function annotated(key: string, value: string): string {
  return gate({ annotations: { [SPOT_PERCENTAGE]: "70", [key]: value } });
}

pure("sentences of workloads that take no part in placement", () => {
  const noTeam = { namespaceSelector: { matchLabels: { team: "a" }, matchExpressions: [] } };
  const optedOut = { name: "shop", metadata: { labels: { [ENABLED]: "false" }, annotations: {} } };
  return assertLines(
    {
      "NamespaceProtected": () => gate({ namespace: { name: "kube-system" } }),
      "NamespaceNotSelected": () => gate({}, noTeam),
      "NamespaceOptedOut": () => gate({ namespace: optedOut }),
      "PlacementOff": () => gate({ labels: {} }),
      "PlacementUntuned": () => gate({}),
      "enabled": () => gate({ labels: { [ENABLED]: "True" } }),
      "spot-percentage": () => gate({ annotations: { [MIN_ON_DEMAND]: "2" } }),
      "min-on-demand": () => annotated(MIN_ON_DEMAND, "two"),
      "two": () => gate({ annotations: { [SPOT_PERCENTAGE]: "all", [PAUSED]: "yes" } }),
      "schedule": () => annotated(DISRUPTION_DURATION, "2h"),
      "duration": () => annotated(DISRUPTION_SCHEDULE, "0 2 * * *"),
    },
    `\
NamespaceProtected: namespace kube-system is the system's
NamespaceNotSelected: namespaceSelector leaves shop out
NamespaceOptedOut: namespace shop opted out
PlacementOff: spotalis.io/enabled is not "true"
PlacementUntuned: spotalis.io/spot-percentage is not there
enabled: label spotalis.io/enabled of the workload is "True": must be "true" or "false"
spot-percentage: annotation spotalis.io/spot-percentage of the workload is missing: must be a whole number from 0 to 100, with or without %, for instance 70%
min-on-demand: annotation spotalis.io/min-on-demand of the workload is "two": must be a whole number from 0 to 10000
two: annotation spotalis.io/spot-percentage of the workload is "all": must be a whole number from 0 to 100, with or without %, for instance 70%; annotation spotalis.io/paused of the workload is "yes": must be "true", or not be there
schedule: annotation spotalis.io/disruption-schedule of the workload is missing: must be five fields of cron that name a time, for instance 0 2 * * * (UTC) or CRON_TZ=Europe/Berlin 0 2 * * 1-5
duration: annotation spotalis.io/disruption-duration of the workload is missing: must be more than 0 with a unit, for instance 2h or 90m
`,
  );
});

function pinned(nodeSelector: Readonly<Record<string, string>>): string {
  const nodes = { hostClass: () => undefined, poolClass: () => undefined };
  const options = { to: "spot", classes: NODE_CLASS_PRESETS.karpenter, nodes } as const;
  return pinnedBy(selectorConstraints(nodeSelector), options) ?? "";
}

function refused(...changes: readonly Partial<PodDisruptionBudget>[]): string {
  const budgets = ["web", "b"].slice(0, changes.length).map((name, index) => ({
    ...sampleBudget(name),
    ...changes[index],
  }));
  return budgetRefusal(budgets, true) ?? "";
}

pure("sentences of pods that stay, and of texts that placement can't read", () =>
  assertLines(
    {
      "protected": () => protectedBy({ "karpenter.sh/do-not-disrupt": "true" }) ?? "",
      "node selector": () => pinned({ "kubernetes.io/hostname": "o1" }),
      "disruptionsAllowed": () => refused({}),
      "several budgets": () => refused({}, {}),
      "observedGeneration": () => refused({ current: false }),
      "schedule's form": () => messageOf(() => parseCronSchedule("@daily")),
      "schedule's day": () => messageOf(() => parseCronSchedule("0 0 30 2 *")),
      "schedule's value": () => messageOf(() => parseCronSchedule("60 2 * * *")),
      "duration": () => messageOf(() => parseWindowDuration("0s")),
    },
    `\
protected: annotation karpenter.sh/do-not-disrupt is "true"
node selector: its node selector allows no spot node
disruptionsAllowed: budget web allows no disruption
several budgets: budgets web, b are for the same pod, which can't be evicted
observedGeneration: budget web has changed and is not counted yet
schedule's form: Cannot parse schedule: "@daily" is not five fields: minute, hour, day, month, weekday
schedule's day: Cannot parse schedule: "0 0 30 2 *" names a day that never comes
schedule's value: Cannot parse schedule: "60 2 * * *" has a field or a time zone that does not exist
duration: Cannot parse duration: it is 0, expected more
`,
  ));

function selected(matchLabels: Readonly<Record<string, string>>) {
  return { selectors: [{ matchLabels, matchExpressions: [] }], tolerations: [] };
}

function classifierFault(value: unknown): string {
  return refusalOf(nodeClassifierKind, JSON.stringify(value)) ?? "";
}

function together(changes: Partial<Parameters<typeof placementFaults>[0]>): string {
  return placementFaults({
    ...{ windowSchedule: null, windowDuration: null },
    ...{ fallbackDuration: 2_400_000, maxFallbackDuration: 2_400_000 },
    ...changes,
  }).join("; ");
}

pure("sentences of the settings of placement", () => {
  const steady = selected({ pool: "steady" });
  const none = { selectors: [], tolerations: [] };
  const classFaults = (spot: typeof none | typeof steady, onDemand: typeof spot) =>
    nodeClassesFaults({ spot, "on-demand": onDemand }).join("; ");
  const noOnDemand = { spotLabels: [{ matchLabels: { a: "b" } }], onDemandLabels: [] };
  return assertLines(
    {
      "spot selectors": () => classFaults(none, steady),
      "selector without labels": () => classFaults(selected({}), steady),
      "on-demand selectors": () => classifierFault(noOnDemand),
      "selectors of the same nodes": () => classifierFault({ spot: "a=b", onDemand: "a=b" }),
      "neither preset nor selectors": () => classifierFault({ presett: "eks" }),
      "labels": () => classifierFault({ spot: "a", onDemand: "a=b" }),
      "condition of health": () => refusalOf(departureSignsKind, '{"conditions": ["Ready"]}') ?? "",
      "window without duration": () => together({ windowSchedule: "0 2 * * *" }),
      "fallbackDuration": () => together({ maxFallbackDuration: 1_800_000 }),
    },
    `\
spot selectors: spotLabels must name at least one selector
selector without labels: spotLabels[0] must have matchLabels alone: pods are sent to nodes by it
on-demand selectors: onDemandLabels must name at least one selector where spotTolerations has no taint that keeps on-demand pods off spot nodes
selectors of the same nodes: onDemand[0] must not select what spot select
neither preset nor selectors: presett is not known; must have a preset, or spotLabels and onDemandLabels
labels: spot is "a": must be labels, for instance class=spot
condition of health: conditions[0] is "Ready": must say that a node goes: Ready, MemoryPressure, DiskPressure, PIDPressure describe its health
window without duration: placement.disruptionWindow.schedule is set and placement.disruptionWindow.duration is not: set both or neither
fallbackDuration: placement.fallbackDuration is 40m and placement.maxFallbackDuration is 30m: the longest must be at least as long as the first
`,
  );
});

/** The action that is due for a whole Deployment of these pods; half of them belong on spot. */
const step =
  (pods: readonly PlacedPod[], changes: Partial<MoveDecisionInput> = {}) => (): string => {
    const input = wholeInput(pods, { evictionFromMs: NOW, nowMs: NOW, ...changes });
    const decision = decideMove(input, PLACEMENT_DEFAULTS);
    return forecastStep(input, { decision, settings: PLACEMENT_DEFAULTS })?.action ?? "";
  };

const NOW = Date.UTC(2026, 0, 1);
const RUNNING = placedPods({ spot: 3, "on-demand": 1 });
const BUDGET = "budget web allows no disruption";
const LEAVING = placedPod("web-9", { gone: true, departs: "taint spot-itn", departsSinceMs: NOW });
const STRANDED = placedPod("web-0", {
  ...{ class: "spot", scheduled: false, ready: false, createdAtMs: NOW },
  unschedulableSinceMs: NOW,
});
const SHORTAGE = { sinceMs: NOW - 1, untilMs: NOW + 240_000, rounds: 1 };

pure("sentences of the step that is due", () =>
  assertLines(
    {
      "youngest": step(RUNNING),
      "bound": step(
        RUNNING.map((pod) => ({
          ...pod,
          ...(pod.name.endsWith("x3") && { pinned: "its volume" }),
        })),
      ),
      "cordoned": step(RUNNING.map((pod) => ({ ...pod, cordoned: pod.name.endsWith("x1") }))),
      "budget": step(RUNNING.map((pod) => ({ ...pod, budget: BUDGET })), {
        lastMoveAtMs: NOW - 4000,
      }),
      "leaving, budget": step([...RUNNING, { ...LEAVING, budget: BUDGET }]),
      "fallback": step([STRANDED, placedPod("web-1"), { ...STRANDED, uid: "b", name: "web-2" }]),
      "stranded": step([{ ...STRANDED, createdAtMs: 0 }], { shortage: SHORTAGE }),
      "another fallback": step([STRANDED], { shortage: { ...SHORTAGE, untilMs: NOW + 60_000 } }),
      "remade": step([STRANDED], {
        shortage: { ...SHORTAGE, remade: { atMs: NOW - 1, count: 1 } },
      }),
    },
    `\
youngest: evict pod web-spot-x3 (youngest surplus spot) to on-demand
bound: evict pod web-spot-x2 (youngest surplus spot that may go) to on-demand
cordoned: evict pod web-spot-x1 (surplus spot on a cordoned node) to on-demand
budget: wait until a budget lets one go (pod web-spot-x3: budget web allows no disruption)
leaving, budget: evict pod web-9 from a node that is about to go (taint spot-itn), once its budget lets it: budget web allows no disruption
fallback: new pods fall back to on-demand unless pod web-0 and 1 more finds a spot node
stranded: evict pod web-0 (it finds no spot node) to on-demand
another fallback: fall back once more unless pod web-0 finds a spot node, made for spot in this fallback
remade: make pod web-0 again unless it finds a spot node, made for spot in this fallback: is the webhook asked?
`,
  ));

/** The reason for which no pod of a whole workload moves. */
const waiting =
  (pods: readonly PlacedPod[], changes: Partial<MoveDecisionInput> = {}) => (): string => {
    const decision = decideMove(wholeInput(pods, { nowMs: NOW, ...changes }), PLACEMENT_DEFAULTS);
    return "wait" in decision ? decision.message : "";
  };

pure("sentences of waits", () => {
  const { spec, workload } = wholeInput(RUNNING);
  const set = [0, 1].map((ordinal) =>
    placedPod(`db-${ordinal + 2}`, ordinal === 0 ? { class: "spot" } : {})
  );
  return assertLines(
    {
      "AsSpecified": waiting(placedPods({ spot: 2, "on-demand": 2 })),
      "SpotFallback": waiting(placedPods({ "on-demand": 4 }), { shortage: SHORTAGE }),
      "WindowClosed": waiting(RUNNING, {
        spec: { ...spec, window: { schedule: "0 22 * * *", durationMs: 1000 } },
      }),
      "MoveCooldown": waiting(RUNNING, {
        lastMoveAtMs: NOW,
        ineffectiveMoves: { count: 1, misplaced: 1, spec },
      }),
      "EvictionRate": waiting(RUNNING, { evictionFromMs: NOW + 1 }),
      "NoneEvictable": waiting(set, {
        workload: {
          ...workload,
          kind: "StatefulSet",
          replicas: 2,
          present: 2,
          ready: 2,
          updated: 2,
        },
        spec: { ...spec, minOnDemand: 1 },
      }),
    },
    `\
AsSpecified: each replica is where it should be
SpotFallback: spot nodes are short
WindowClosed: 0 22 * * * opens it
MoveCooldown: it lasts 40 s after a move, as 2 in a row have not helped: is the webhook asked, and may pods be evicted?
EvictionRate: it is used up
NoneEvictable: pod db-3: the floor needs it
`,
  );
});

pure("sentences of pods in a status", () => {
  const pods = [
    placedPod("web-1", { pinned: "its affinity allows no spot node", budget: BUDGET }),
    placedPod("web-2", { cordoned: true, ready: false }),
    placedPod("web-3", { scheduled: false }),
    placedPod("web-4", { scheduled: false, unschedulableSinceMs: NOW }),
    LEAVING,
  ];
  const invalid = { reason: "ConfigurationError", message: "" } as const;
  const status = refusedStatus(invalid, () => ({ pods, nowMs: NOW }));
  return assertTexts(
    {
      "pods": () => status.pods.map(({ name, notes }) => [name, ...notes].join("; ")).join("\n"),
      "unreadable": () => readStatus("").message ?? "",
    },
    `\
pods
  web-1; stays: its affinity allows no spot node; budget web allows no disruption
  web-2; not Ready; its node is cordoned
  web-3; has no node yet
  web-4; finds no node since 00:00:00Z
  web-9; its node is about to go (taint spot-itn)
unreadable
  its published status can't be read
`,
  );
});
