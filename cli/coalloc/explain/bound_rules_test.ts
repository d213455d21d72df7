import assert from "node:assert/strict";
import { sampleContainer, samplePod } from "../../../tests/contract/support/sample_objects.ts";
import {
  sampleContainerView,
  sampleNodeView,
  samplePodView,
} from "../../../tests/fixtures/cli/node_views.ts";
import { newAllocation } from "../../../controller/allocation/bounds/publish_bounds.ts";
import type { Pod } from "../../../shared/api/pod.ts";
import type { BoundRule, ContainerBounds } from "../../../shared/api/pod_allocation.ts";
import {
  BOUND_HOLDS,
  BOUND_REASONS,
  CEILING_REASONS,
} from "../../../shared/api/reasons/bound_reasons.ts";
import { remedyFor } from "../../../shared/api/reasons/reasons.ts";
import type { Reason } from "../../../shared/api/reasons/reason.ts";
import type { ContainerView } from "../../../shared/view/node_view.ts";
import { DEFAULT_MARKET_SETTINGS } from "../market_settings.ts";
import { explainText } from "./explain_text.ts";
import { type Explanation, explanationOf } from "./explanation.ts";
import { blockerOf } from "./blocker.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const POD: Pod = {
  ...samplePod("web", {
    containers: [
      sampleContainer({ containerID: "containerd://web", applied: { limits: { cpu: 200 } } }),
    ],
  }),
  phase: "Running",
};

interface Choice {
  readonly rules?: BoundRule[];
  readonly container?: Partial<ContainerBounds>;
  /** What the agent says; absent where none answers. */
  readonly view?: Partial<ContainerView>;
}

/** The explanation of a pod with these bounds, on a node with room. */
function explanation({ rules, container = {}, view }: Choice): Explanation {
  const draft = newAllocation({ pod: POD });
  const usual = { name: "app", containerID: "containerd://web", floor: 100, ceiling: 800 };
  const reason = rules?.map((rule) => rule.reason).join(", ") ?? "original limit × 4";
  const containers = [{ ...usual, weight: 100, ...container }];
  const bounds = { revision: 7, reason, containers, ...(rules === undefined ? {} : { rules }) };
  const market = {
    ...{ mode: "uncongested" as const, price: 0, demand: 40, need: 100, credit: 1 },
    ...{ reason: "DemandFell", observedBounds: 7 },
  };
  const podView = view && samplePodView("web", { uid: "", container: sampleContainerView(view) });
  return explanationOf({
    pod: POD,
    namespace: undefined,
    settings: DEFAULT_MARKET_SETTINGS,
    allocation: {
      ...draft,
      spec: { ...draft.spec, desiredCPULimit: "200m", market },
      status: { bounds, phase: "Applied", reason: "Applied" },
    },
    nodeView: podView && sampleNodeView([podView], { mode: "uncongested" }),
    problems: [],
    nowMs: Date.UTC(2026, 0, 1),
  });
}

const IDLE: Partial<ContainerView> = { usage: 30, demand: 40, need: 100, share: 100, target: 200 };
/** A container that would use more than its limit. */
const SHORT: Partial<ContainerView> = { demand: 480, share: 480, need: 480, target: 480 };

test("explainText() reports each rule of bounds with its sentence, its numbers and its remedy", () => {
  for (const [reason, { means, remedy }] of Object.entries<Reason>(BOUND_REASONS)) {
    for (const view of [IDLE, undefined]) {
      const message = `app because of ${reason}`;
      const text = explainText(explanation({
        rules: [{ reason, message }, { reason: "NodeSize", message: "app at most 3600m" }],
        ...(view === undefined ? {} : { view }),
      }));
      const lines = text.split("\n");
      const at = lines.findIndex((line) => line.trim() === `${reason}: ${means} (${message})`);
      assert.ok(at > lines.findIndex((line) => /^Bounds +revision 7$/.test(line)), reason);
      const next = lines[at + 1]?.trim() ?? "";
      if (remedy === undefined) assert.doesNotMatch(next, /^what to do/);
      else assert.equal(next, `what to do: ${remedy}`);
      assert.match(text, /^ +NodeSize: .* \(app at most 3600m\)$/m);
    }
  }
});

test("explainText() reports an allocation without rules, and a reason of a later version", () => {
  const old = explainText(explanation({ view: IDLE }));
  assert.match(old, /^Bounds +revision 7; original limit × 4$/m);
  assert.doesNotMatch(old, /what to do/);
  const later = explainText(
    explanation({ rules: [{ reason: "Moonlight", message: "it is full" }] }),
  );
  assert.match(later, /^ +Moonlight: .* \(it is full\)$/m);
});

test("explainText() names the rules that keep a limit up, and reports a boost and a metric", () => {
  const lower = { rules: [{ reason: "PodNotReady", message: "the pod is not Ready" }] };
  const kept = explainText(explanation({ ...lower, container: { held: "lower" }, view: IDLE }));
  assert.match(kept, /Not blocked: .*; app is held.*: PodNotReady$/m);
  assert.match(kept, /^ {2}app +floor 100m, .*; held.*: PodNotReady$/m);
  const free = explainText(explanation({ ...lower, view: IDLE }));
  assert.doesNotMatch(free, /: PodNotReady$/m);
  const started = { boost: true, demand: 300 } as const;
  for (const view of [IDLE, undefined]) {
    const choice = { container: started, ...(view === undefined ? {} : { view }) };
    const text = explainText(explanation(choice));
    assert.match(text, /; boosted/);
    assert.match(text, /metric .*300m/);
  }
});

test("blockerOf() names the rules that keep a limit as it is, with the first remedy", () => {
  const wants = { container: { held: "both" }, view: SHORT } as const;
  const rules = [
    { reason: "BurstFactor", message: "app at most 800m: original limit × 4" },
    { reason: "NodeDraining", message: "node-1 is being drained" },
  ];
  const draining = blockerOf(explanation({ ...wants, rules }));
  assert.equal(draining?.by, "BoundsHold");
  assert.match(draining?.message ?? "", / app .*: NodeDraining: node-1 is being drained$/);
  assert.equal(draining?.remedy, remedyFor("NodeDraining"));
  const old = blockerOf(explanation(wants));
  assert.equal(old?.by, "BoundsHold");
  assert.match(old?.message ?? "", / app .*: original limit × 4$/);
  assert.equal(old?.remedy, undefined);
  for (const [reason, hold] of Object.entries(BOUND_HOLDS)) {
    const message = `so says ${reason}`;
    const found = blockerOf(explanation({ ...wants, rules: [{ reason, message }] }));
    const isNamed = found?.message.endsWith(`as it is: ${reason}: ${message}`);
    // A rule that only keeps a limit from being lowered blocks nothing.
    assert.equal(isNamed, hold === "both", reason);
  }
});

test("blockerOf() names the rule that sets a ceiling, and what to do about that one", () => {
  const view = { ...SHORT, limit: 200, ceiling: 200 };
  const rules = [
    { reason: "BurstFactor", message: "db at most 900m: original limit × 4" },
    { reason: "QuotaExceeded", message: "app at most 200m: its share of ResourceQuota cpu" },
    { reason: "HPADamped", message: "HPA web scales the workload on CPU" },
  ];
  const quota = blockerOf(explanation({ view, rules }));
  assert.equal(quota?.by, "CeilingBinds");
  assert.match(quota?.message ?? "", / app, 200m \(QuotaExceeded: .*200m.*480m$/);
  assert.equal(quota?.remedy, remedyFor("QuotaExceeded"));
  const old = blockerOf(explanation({ view }));
  assert.match(old?.message ?? "", /200m \(original limit × 4\)/);
  assert.match(old?.remedy ?? "", /mbcas.io\/max-cpu/);
});

test("blockerOf() takes the remedy of a ceiling from its rule, and from no rule that sets none", () => {
  const view = { ...SHORT, limit: 200, ceiling: 200 };
  const general = blockerOf(explanation({ view }))?.remedy;
  const sets: ReadonlySet<string> = new Set(CEILING_REASONS);
  for (const reason of Object.keys(BOUND_REASONS)) {
    const message = `app because of ${reason}`;
    const found = blockerOf(explanation({ view, rules: [{ reason, message }] }));
    const isNamed = found?.message.includes(`(${reason}: ${message})`);
    assert.equal(isNamed, sets.has(reason), reason);
    assert.equal(found?.remedy, (sets.has(reason) ? remedyFor(reason) : undefined) ?? general);
  }
});
