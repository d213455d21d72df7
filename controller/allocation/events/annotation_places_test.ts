import assert from "node:assert/strict";
import { samplePod } from "../../../tests/contract/support/sample_objects.ts";
import { bidFacts } from "../../../tests/fixtures/market/bid_facts.ts";
import type { BidFacts } from "../bid_rules/bid_rule.ts";
import { type AnnotatedObjects, annotationPlaceWarnings as said } from "./annotation_places.ts";
import { warningText } from "../bounds/annotation_warning.ts";

type Texts = Readonly<Record<string, string>>;

interface GivenTexts {
  readonly labels?: Texts;
  readonly annotations?: Texts;
}

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

/** The sentences alone. */
function annotationPlaceWarnings(facts: AnnotatedObjects): readonly string[] {
  return said(facts).map(warningText);
}

const identity = { name: "web", namespace: "shop", uid: "", resourceVersion: "" };

/** Facts with these texts and no others. */
function facts(
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

const EACH: Texts = {
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

function only(...names: readonly string[]): Texts {
  return Object.fromEntries(
    names.map((name) => [`mbcas.io/${name}`, EACH[`mbcas.io/${name}`] ?? ""]),
  );
}

test("annotationPlaceWarnings() has no warnings about keys in their places, nor about foreign keys", () => {
  const others = { "app": "web", "example.com/max-cpu": "2", "mbcas.iox/managed": "1" };
  assert.deepEqual(
    annotationPlaceWarnings(facts({
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
    annotationPlaceWarnings(facts({ [place]: texts })).map((one) => one.split(" ")[0] ?? "");
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
  const others: Texts = { app: "web", "managed": "true", "optipod.io/managed": "true" };
  const texts = { labels: others, annotations: others };
  const found = annotationPlaceWarnings(
    facts({ pod: texts, namespace: texts, workload: texts }),
  );
  assert.deepEqual(found, []);
});

test("annotationPlaceWarnings() passes over a key that is also in its place", () => {
  const twice = (texts: Parameters<typeof facts>[0]) =>
    annotationPlaceWarnings(facts(texts)).length;
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
  const warnings = annotationPlaceWarnings(facts({
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
