import assert from "node:assert/strict";
import * as said from "./switch_warnings.ts";
import { HPA_COORDINATION } from "../../../shared/resize/checks/horizontal_autoscaler.ts";
import {
  ALLOW_OVERRIDES,
  MANAGED,
  type OutOfScope,
  SKIP_GUARANTEED,
} from "../../../shared/resize/scope.ts";
import type { Workload } from "../../../shared/api/workload.ts";
import { samplePod } from "../../../tests/contract/support/sample_objects.ts";
import { bidFacts } from "../../../tests/fixtures/market/bid_facts.ts";
import type { BidFacts } from "../bid_rules/bid_rule.ts";
import { horizontalAutoscaler } from "../bid_rules/horizontal_autoscaler.ts";
import { type AnnotationWarning, warningText } from "../bounds/annotation_warning.ts";

type Texts = Readonly<Record<string, string>>;

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

/** The sentences alone. */
function texts<A extends readonly unknown[]>(
  warnings: (...given: A) => readonly AnnotationWarning[],
): (...given: A) => readonly string[] {
  return (...given) => warnings(...given).map(warningText);
}

const managedWarnings = texts(said.managedWarnings);
const outsideWarnings = texts(said.outsideWarnings);
const switchWarnings = texts(said.switchWarnings);

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

test("switchWarnings() has no warnings about known keys in their places", () => {
  const managed = { [MANAGED]: "false" };
  const hpa = { [HPA_COORDINATION]: "true" };
  const good = facts({ labels: managed, annotations: { ...managed, ...hpa } }, {
    labels: { ...managed, [ALLOW_OVERRIDES]: "false" },
    annotations: managed,
    workload: hpa,
    autoscaler: hpa,
  });
  assert.deepEqual(switchWarnings(good), []);
  assert.deepEqual(managedWarnings(facts({ annotations: { [HPA_COORDINATION]: "maybe" } })), []);
});

test("switchWarnings() names a switch once that is invalid and in a place without effect", () => {
  const odd = { [ALLOW_OVERRIDES]: "maybe" };
  const [label = "", annotation = "", ...others] = switchWarnings(
    facts({ labels: odd }, { annotations: odd }),
  );
  assert.match(label, /^mbcas\.io\/allow-overrides .*label.* pod,/);
  assert.match(annotation, /^mbcas\.io\/allow-overrides .*annotation.* namespace,/);
  assert.deepEqual(others, []);
});

const outside = (reason: OutOfScope["reason"]): OutOfScope => ({
  reason,
  message: `for ${reason}`,
});

test("outsideWarnings() names the switches that would have taken the pod in", () => {
  const odd = facts({ annotations: { [MANAGED]: "maybe", [SKIP_GUARANTEED]: "False" } });
  const managed = ['mbcas.io/managed: "maybe" is not "true" or "false"'];
  const skip = ['mbcas.io/skip-guaranteed: "False" is not "true" or "false"'];
  assert.deepEqual(outsideWarnings(odd, outside("NotOptedIn")), managed);
  assert.deepEqual(outsideWarnings(odd, outside("OptedOut")), managed);
  assert.deepEqual(outsideWarnings(odd, outside("NotBurstable")), skip);
  for (const scope of [outside("NamespaceExcluded"), outside("MarketOff"), undefined]) {
    assert.deepEqual(outsideWarnings(odd, scope), []);
  }
  assert.deepEqual(switchWarnings(odd), [...managed, ...skip]);
  for (const key of ["true", "false"]) {
    const good = facts({ annotations: { [SKIP_GUARANTEED]: key } });
    assert.deepEqual(outsideWarnings(good, outside("NotBurstable")), []);
  }
});

test("outsideWarnings() reports why a switch does not count", () => {
  const yes = { [MANAGED]: "true" };
  for (const says of [facts({ labels: yes }), facts({}, { annotations: yes })]) {
    assert.deepEqual(outsideWarnings(says, outside("NotOptedIn")), ["for NotOptedIn"]);
    assert.deepEqual(outsideWarnings(says, outside("OptedOut")), []);
  }
  assert.deepEqual(outsideWarnings(facts({}), outside("NotOptedIn")), []);
});

test("outsideWarnings() reports keys without effect, but where the market is not asked for", () => {
  const misspelt = facts({ annotations: { "mbcas.io/skip-guarantee": "false" } });
  const reported = switchWarnings(misspelt);
  assert.match(reported.join("\n"), /^mbcas\.io\/skip-guarantee, .*mbcas\.io\/skip-guaranteed\?$/);
  for (const reason of ["NotOptedIn", "OptedOut", "NotBurstable"] as const) {
    assert.deepEqual(outsideWarnings(misspelt, outside(reason)), reported);
  }
  assert.deepEqual(outsideWarnings(misspelt, outside("NamespaceExcluded")), []);
  assert.deepEqual(outsideWarnings(misspelt, undefined), []);
});

test("switchWarnings() reports a key on its object, and the pod's own on the pod", () => {
  const odd = { [MANAGED]: "maybe", [HPA_COORDINATION]: "maybe" };
  const holders = (...given: Parameters<typeof facts>): readonly (string | undefined)[] =>
    said.switchWarnings(facts(...given)).map((one) =>
      typeof one === "string" ? undefined : one.about.kind
    );
  assert.deepEqual(holders({ annotations: odd }), [undefined, undefined]);
  const shared = { annotations: odd, workload: odd, autoscaler: odd };
  assert.deepEqual(holders({}, shared), ["Namespace", "Deployment", "HorizontalPodAutoscaler"]);
  const yes = facts({}, { annotations: { [MANAGED]: "true" } });
  const [outsider] = said.outsideWarnings(yes, outside("NotOptedIn"));
  assert.ok(typeof outsider === "object" && outsider.about.kind === "Namespace");
});

test("horizontalAutoscaler() passes over a pod's unreadable value, to the workload's", () => {
  const pod = { annotations: { [HPA_COORDINATION]: "maybe" } };
  const off = { workload: { [HPA_COORDINATION]: "false" } };
  assert.deepEqual(horizontalAutoscaler(facts(pod, off)), []);
  assert.notDeepEqual(horizontalAutoscaler(facts(pod)), []);
  const theirs = { autoscaler: { [HPA_COORDINATION]: "false" } };
  assert.deepEqual(horizontalAutoscaler(facts(pod, theirs)), []);
  const on = { annotations: { [HPA_COORDINATION]: "true" } };
  assert.notDeepEqual(horizontalAutoscaler(facts(on, off)), []);
});
