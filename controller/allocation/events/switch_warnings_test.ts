import assert from "node:assert/strict";
import * as said from "./switch_warnings.ts";
import {
  ALLOW_OVERRIDES,
  HPA_COORDINATION,
  MANAGED,
  SKIP_GUARANTEED,
} from "../../../shared/api/market_keys.ts";
import type { OutOfScope } from "../../../shared/resize/scope.ts";
import type { Workload } from "../../../shared/api/workload.ts";
import { samplePod } from "../../../tests/contract/support/sample_objects.ts";
import { bidFacts } from "../../../tests/fixtures/market/bid_facts.ts";
import type { BidFacts } from "../bid_rules/bid_rule.ts";
import { horizontalAutoscaler } from "../bid_rules/horizontal_autoscaler.ts";
import { type AnnotationWarning, warningText } from "../bounds/annotation_warning.ts";
import type { AnnotatedObjects } from "./switch_warnings.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

type Texts = Readonly<Record<string, string>>;

/** The sentences alone. */
function texts<A extends readonly unknown[]>(
  warnings: (...given: A) => readonly AnnotationWarning[],
): (...given: A) => readonly string[] {
  return (...given) => warnings(...given).map(warningText);
}

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
  const other = facts({ annotations: { [HPA_COORDINATION]: "maybe" } });
  assert.deepEqual(outsideWarnings(other, outside("OptedOut")), []);
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

type PlacedTexts = Readonly<Record<string, string>>;

interface GivenTexts {
  readonly labels?: PlacedTexts;
  readonly annotations?: PlacedTexts;
}

/** The sentences alone. */
function annotationPlaceWarnings(placedFacts: AnnotatedObjects): readonly string[] {
  return said.annotationPlaceWarnings(placedFacts).map(warningText);
}

const identity = { name: "web", namespace: "shop", uid: "", resourceVersion: "" };

/** Facts with these texts and no others. */
function placedFacts(
  texts: Partial<Record<"pod" | "namespace" | "workload" | "hpa", GivenTexts>>,
): BidFacts {
  const sample = samplePod("web");
  const metadata = (given: GivenTexts = {}) => ({
    ...identity,
    labels: {},
    annotations: {},
    ...given,
  });
  return bidFacts({ ...sample, metadata: { ...sample.metadata, ...texts.pod } }, {
    namespace: { metadata: metadata(texts.namespace) },
    workload: {
      kind: "Deployment",
      metadata: metadata(texts.workload),
      rollout: { updated: 1, total: 1, stands: false },
    },
    autoscalers: [{
      metadata: metadata(texts.hpa),
      target: { kind: "Deployment", name: "web" },
      cpuTargets: [],
      stabilizationMs: 0,
    }],
  });
}

const EACH: PlacedTexts = {
  "mbcas.io/managed": "true",
  "mbcas.io/skip-guaranteed": "false",
  "mbcas.io/max-cpu": "2",
  "mbcas.io/priority-multiplier": "0.5",
  "mbcas.io/startup-boost": "2x,30s",
  "mbcas.io/demand-query": "jobs",
  "mbcas.io/burst-factor": "2",
  "mbcas.io/hpa-coordination": "false",
  "mbcas.io/allow-overrides": "true",
};

function only(...names: readonly string[]): PlacedTexts {
  return Object.fromEntries(
    names.map((name) => [`mbcas.io/${name}`, EACH[`mbcas.io/${name}`] ?? ""]),
  );
}

test("annotationPlaceWarnings() has no warnings about keys in their places, nor about foreign keys", () => {
  const others = { "app": "web", "example.com/max-cpu": "2", "mbcas.iox/managed": "1" };
  assert.deepEqual(
    annotationPlaceWarnings(placedFacts({
      pod: {
        labels: { ...others, ...only("managed") },
        annotations: {
          ...others,
          ...only("managed", "skip-guaranteed", "max-cpu", "priority-multiplier"),
          ...only("startup-boost", "demand-query", "hpa-coordination"),
        },
      },
      namespace: {
        labels: { ...others, ...only("managed", "burst-factor", "allow-overrides") },
        annotations: { ...others, ...only("managed", "burst-factor") },
      },
      workload: { labels: others, annotations: { ...others, ...only("hpa-coordination") } },
      hpa: { annotations: { ...others, ...only("hpa-coordination") } },
    })),
    [],
  );
});

test("annotationPlaceWarnings() names each key in a place without effect", () => {
  const misplaced = (
    place: "pod" | "namespace" | "workload" | "hpa",
    texts: GivenTexts,
  ): string[] =>
    annotationPlaceWarnings(placedFacts({ [place]: texts })).map((one) => one.split(" ")[0] ?? "");
  const keysBut = (...names: readonly string[]): string[] =>
    Object.keys(EACH).filter((key) => !Object.hasOwn(only(...names), key));
  assert.deepEqual(misplaced("pod", { labels: EACH }), keysBut("managed"));
  assert.deepEqual(
    misplaced("pod", { annotations: EACH }),
    keysBut(
      "managed",
      "skip-guaranteed",
      "max-cpu",
      "priority-multiplier",
      "startup-boost",
      "demand-query",
      "hpa-coordination",
    ),
  );
  assert.deepEqual(
    misplaced("namespace", { labels: EACH }),
    keysBut("managed", "burst-factor", "allow-overrides"),
  );
  assert.deepEqual(
    misplaced("namespace", { annotations: EACH }),
    keysBut("managed", "burst-factor"),
  );
  assert.deepEqual(misplaced("workload", { labels: EACH }), keysBut());
  assert.deepEqual(misplaced("workload", { annotations: EACH }), keysBut("hpa-coordination"));
  assert.deepEqual(misplaced("hpa", { annotations: EACH }), keysBut("hpa-coordination"));
});

test("annotationPlaceWarnings() ignores foreign keys, and rightsizing's", () => {
  const others: PlacedTexts = { app: "web", "managed": "true", "optipod.io/managed": "true" };
  const texts = { labels: others, annotations: others };
  const found = annotationPlaceWarnings(
    placedFacts({ pod: texts, namespace: texts, workload: texts }),
  );
  assert.deepEqual(found, []);
});

test("annotationPlaceWarnings() passes over a key that is also in its place", () => {
  const twice = (texts: Parameters<typeof placedFacts>[0]) =>
    annotationPlaceWarnings(placedFacts(texts)).length;
  const maxCPU = { annotations: only("max-cpu") };
  const other = { annotations: { "mbcas.io/max-cpu": "3" } };
  assert.equal(twice({ workload: maxCPU }), 1);
  assert.equal(twice({ workload: maxCPU, pod: maxCPU }), 0);
  assert.equal(twice({ workload: maxCPU, pod: other }), 0);
  const overrides = only("allow-overrides");
  assert.equal(twice({ namespace: { labels: overrides, annotations: overrides } }), 0);
  assert.equal(twice({ namespace: { labels: overrides }, pod: { annotations: overrides } }), 0);
  // The namespace's other value does not replace the workload's.
  const off = { annotations: { "mbcas.io/managed": "false" } };
  const on = { labels: { "mbcas.io/managed": "true" } };
  assert.equal(twice({ namespace: on, workload: off }), 1);
});

test("annotationPlaceWarnings() names misspelt keys, their places and the nearest known key", () => {
  const warnings = annotationPlaceWarnings(placedFacts({
    pod: {
      labels: { "mbcas.io/manage": "false" },
      annotations: { "mbcas.io/maxcpu": "1", "mbcas.io/colour": "red", "mbcas.io/": "" },
    },
    namespace: { labels: { "mbcas.io/allow-override": "true" } },
    workload: { annotations: { "mbcas.io/hpa-cordination": "false" } },
    hpa: { annotations: { "mbcas.io/HPA-Coordination": "false" } },
  }));
  const values = /mbcas\.io\/[\w-]*|label|annotation|pod|namespace|workload|HPA/g;
  assert.deepEqual(warnings.map((warning) => warning.match(values)?.map(String)), [
    ["mbcas.io/manage", "label", "pod", "mbcas.io/managed"],
    ["mbcas.io/maxcpu", "annotation", "pod", "mbcas.io/max-cpu"],
    ["mbcas.io/colour", "annotation", "pod"],
    ["mbcas.io/", "annotation", "pod"],
    ["mbcas.io/allow-override", "label", "namespace", "mbcas.io/allow-overrides"],
    ["mbcas.io/hpa-cordination", "annotation", "workload", "mbcas.io/hpa-coordination"],
    ["mbcas.io/HPA-Coordination", "annotation", "HPA", "mbcas.io/hpa-coordination"],
  ]);
});
