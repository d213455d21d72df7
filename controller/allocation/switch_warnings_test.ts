import assert from "node:assert/strict";
import { HPA_COORDINATION } from "../../shared/actuation/hpa_coordination.ts";
import { ALLOW_OVERRIDES, MANAGED, SKIP_GUARANTEED } from "../../shared/actuation/scope.ts";
import type { Workload } from "../../shared/api/workload.ts";
import { samplePod } from "../../tests/contract/sample_objects.ts";
import { bidFacts } from "../../tests/fixtures/bid_facts.ts";
import type { BidFacts } from "./bid_rules/bid_rule.ts";
import { horizontalAutoscaler } from "./bid_rules/horizontal_autoscaler.ts";
import { managedWarnings, outsideWarnings, switchWarnings } from "./switch_warnings.ts";

type Texts = Readonly<Record<string, string>>;

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

/** Labels and annotations of pod and namespace, annotations of the workload and its HPA. */
function facts(
  pod: { labels?: Texts; annotations?: Texts },
  { labels = {}, annotations = {}, workload = {}, autoscaler = {} }: {
    readonly labels?: Texts;
    readonly annotations?: Texts;
    readonly workload?: Texts;
    readonly autoscaler?: Texts;
  } = {},
): BidFacts {
  const sample = samplePod("web");
  const identity = { name: "web", namespace: "shop", uid: "", resourceVersion: "" };
  const owner: Workload = {
    kind: "Deployment",
    metadata: { ...identity, annotations: workload },
    rollout: { updated: 1, total: 1, stands: false },
  };
  return bidFacts({ ...sample, metadata: { ...sample.metadata, ...pod } }, {
    namespace: { metadata: { ...identity, labels, annotations } },
    workload: owner,
    autoscalers: [{
      metadata: { ...identity, annotations: autoscaler },
      target: { kind: "Deployment", name: "web" },
      cpuTargets: [{ utilization: 0.8 }],
      stabilizationMs: 0,
    }],
  });
}

test("switchWarnings() names each switch that says neither yes nor no, wherever it stands", () => {
  const odd = { [MANAGED]: "maybe" };
  const hpa = { [HPA_COORDINATION]: "no\u0007" };
  const warnings = switchWarnings(facts({ labels: odd, annotations: { ...odd, ...hpa } }, {
    labels: { ...odd, [ALLOW_OVERRIDES]: "" },
    annotations: odd,
    workload: hpa,
    autoscaler: hpa,
  }));
  const managed = 'mbcas.io/managed: "maybe" is not "true" or "false"';
  const coordination = 'mbcas.io/hpa-coordination: "no\\u{7}" is not "true" or "false"';
  assert.deepEqual(warnings, [
    managed,
    managed,
    managed,
    managed,
    'mbcas.io/allow-overrides: "" is not "true" or "false"',
    coordination,
    coordination,
    coordination,
  ]);
});

test("switchWarnings() has nothing to say of words that it knows, or that nobody reads there", () => {
  const good = { [MANAGED]: "false", [HPA_COORDINATION]: "true", [ALLOW_OVERRIDES]: "false" };
  const all = { labels: good, annotations: good };
  assert.deepEqual(switchWarnings(facts(all, { ...all, workload: good, autoscaler: good })), []);
  const misplaced = { [ALLOW_OVERRIDES]: "maybe" };
  assert.deepEqual(switchWarnings(facts({ labels: misplaced, annotations: misplaced })), []);
  assert.deepEqual(managedWarnings(facts({ annotations: { [HPA_COORDINATION]: "maybe" } })), []);
});

test("outsideWarnings() names the switches that would have taken the pod in", () => {
  const odd = facts({ annotations: { [MANAGED]: "maybe", [SKIP_GUARANTEED]: "False" } });
  const managed = ['mbcas.io/managed: "maybe" is not "true" or "false"'];
  const skip = ['mbcas.io/skip-guaranteed: "False" is not "true" or "false"'];
  assert.deepEqual(outsideWarnings(odd, "NotOptedIn"), managed);
  assert.deepEqual(outsideWarnings(odd, "OptedOut"), managed);
  assert.deepEqual(outsideWarnings(odd, "NotBurstable"), skip);
  for (const reason of ["NamespaceExcluded", undefined] as const) {
    assert.deepEqual(outsideWarnings(odd, reason), []);
  }
  assert.deepEqual(switchWarnings(odd), [...managed, ...skip]);
  for (const word of ["true", "false"]) {
    const good = facts({ annotations: { [SKIP_GUARANTEED]: word } });
    assert.deepEqual(outsideWarnings(good, "NotBurstable"), []);
  }
});

test("horizontalAutoscaler() passes over a pod's word that it can't read, to the workload's", () => {
  const pod = { annotations: { [HPA_COORDINATION]: "maybe" } };
  const off = { workload: { [HPA_COORDINATION]: "false" } };
  assert.deepEqual(horizontalAutoscaler(facts(pod, off)), []);
  assert.notDeepEqual(horizontalAutoscaler(facts(pod)), []);
  const theirs = { autoscaler: { [HPA_COORDINATION]: "false" } };
  assert.deepEqual(horizontalAutoscaler(facts(pod, theirs)), []);
  const on = { annotations: { [HPA_COORDINATION]: "true" } };
  assert.notDeepEqual(horizontalAutoscaler(facts(on, off)), []);
});
