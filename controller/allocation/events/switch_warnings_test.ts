import assert from "node:assert/strict";
import {
  ALLOW_OVERRIDES,
  HPA_COORDINATION,
  MANAGED,
  MARKET_KEYS,
  SKIP_GUARANTEED,
} from "../../../shared/api/market_keys.ts";
import type { Texts } from "../../../shared/api/object.ts";
import type { EnforcementReason } from "../../../shared/api/reasons/enforcement_reasons.ts";
import { samplePod } from "../../../tests/contract/support/sample_objects.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import { sampleHPA, sampleWorkload } from "../../../tests/fixtures/sample_workloads.ts";
import { type AnnotatedObjects, outsideWarnings, switchWarnings } from "./switch_warnings.ts";

type Holder = "pod" | "namespace" | "workload" | "HPA";
/** Labels and annotations of each holder. */
type Given = Partial<Record<Holder, { readonly labels?: Texts; readonly annotations?: Texts }>>;

function objects(given: Given): AnnotatedObjects {
  const pod = samplePod("web");
  const identity = { name: "shop", uid: "", resourceVersion: "", labels: {}, annotations: {} };
  const hpa = sampleHPA();
  return {
    pod: { ...pod, metadata: { ...pod.metadata, ...given.pod } },
    namespace: { metadata: { ...identity, ...given.namespace } },
    workload: sampleWorkload(given.workload),
    autoscalers: [{ ...hpa, metadata: { ...hpa.metadata, ...given.HPA } }],
  };
}

const messages = (given: Given): readonly string[] =>
  switchWarnings(objects(given)).map(({ message }) => message);
const keysIn = (given: Given): readonly string[] =>
  messages(given).map((message) => message.split(/[ ,:]/)[0] ?? "");

const ODD = { [MANAGED]: "maybe" };
const COORDINATION = { [HPA_COORDINATION]: "no\u0007" };
const managed = 'mbcas.io/managed: "maybe" is not "true" or "false"';

pure("switchWarnings() names each switch that says neither yes nor no, on its object", () => {
  const given = {
    pod: { labels: ODD, annotations: { ...ODD, ...COORDINATION } },
    namespace: { labels: { ...ODD, [ALLOW_OVERRIDES]: "" }, annotations: ODD },
    workload: { annotations: COORDINATION },
    HPA: { annotations: COORDINATION },
  };
  const coordination = 'mbcas.io/hpa-coordination: "no\\u{7}" is not "true" or "false"';
  const expected = [
    ...[[managed, undefined], [managed, undefined]] as const,
    ...[[managed, "Namespace"], [managed, "Namespace"]] as const,
    ['mbcas.io/allow-overrides: "" is not "true" or "false"', "Namespace"],
    [coordination, undefined],
    [coordination, "Deployment"],
    [coordination, "HorizontalPodAutoscaler"],
  ];
  const found = switchWarnings(objects(given));
  assert.deepEqual(found.map(({ message, about }) => [message, about?.kind]), expected);
  // One that is invalid and in a place without effect is named once.
  const misplaced = { pod: { labels: { [ALLOW_OVERRIDES]: "maybe" } } };
  assert.deepEqual(keysIn(misplaced), [ALLOW_OVERRIDES]);
  assert.ok(!messages(misplaced).join().includes("maybe"));
});

pure("outsideWarnings() names switches that would have taken the pod in", () => {
  const yes = { [MANAGED]: "true" };
  const warned = (reason: EnforcementReason | undefined, given: Given) => {
    const scope = reason && { reason, message: `for ${reason}` };
    return outsideWarnings(objects(given), scope).map(({ message, about }) =>
      about === undefined ? message : `${about.kind}: ${message}`
    );
  };
  const odd = { pod: { annotations: { ...ODD, [SKIP_GUARANTEED]: "False" } } };
  const misspelt = { pod: { annotations: { "mbcas.io/skip-guarantee": "false" } } };
  const skip = 'mbcas.io/skip-guaranteed: "False" is not "true" or "false"';
  const others = messages(misspelt);
  const rows: readonly (readonly [EnforcementReason | undefined, Given, readonly string[]])[] = [
    ["NotOptedIn", odd, [managed]],
    ["OptedOut", odd, [managed]],
    ["NotBurstable", odd, [skip]],
    ["NamespaceExcluded", odd, []],
    ["MarketOff", odd, []],
    [undefined, odd, []],
    ["NotBurstable", { pod: { annotations: { [SKIP_GUARANTEED]: "true" } } }, []],
    ["NotOptedIn", { pod: { labels: yes } }, ["for NotOptedIn"]],
    ["NotOptedIn", { namespace: { annotations: yes } }, ["Namespace: for NotOptedIn"]],
    ["OptedOut", { pod: { labels: yes } }, []],
    ["NotOptedIn", {}, []],
    ...["NotOptedIn", "OptedOut", "NotBurstable"].map((reason) =>
      [reason as EnforcementReason, misspelt, others] as const
    ),
    ["NamespaceExcluded", misspelt, []],
  ];
  for (const [reason, given, expected] of rows) assert.deepEqual(warned(reason, given), expected);
  assert.equal(others.length, 1);
});

const KEYS = [...MARKET_KEYS.keys()];
const OF_POD = ["skip-guaranteed", "max-cpu", "priority-multiplier", "startup-boost"];
/** The keys that each place is read for. */
const READ: readonly (readonly [Holder, "labels" | "annotations", ...keys: string[]])[] = [
  ["pod", "labels", "managed"],
  ["pod", "annotations", "managed", ...OF_POD, "demand-query", "hpa-coordination"],
  ["namespace", "labels", "managed", "burst-factor", "allow-overrides"],
  ["namespace", "annotations", "managed", "burst-factor"],
  ["workload", "labels"],
  ["workload", "annotations", "hpa-coordination"],
  ["HPA", "annotations", "hpa-coordination"],
];

pure("switchWarnings() names each key in a place without effect", () => {
  const foreign = {
    app: "web",
    "mbcas.iox/managed": "1",
    "optipod.io/managed": "true",
    managed: "1",
  };
  const texts = { ...Object.fromEntries(KEYS.map((key) => [key, "true"])), ...foreign };
  for (const [holder, kind, ...keys] of READ) {
    const wrong = KEYS.filter((key) => !keys.includes(key.replace("mbcas.io/", "")));
    assert.deepEqual(keysIn({ [holder]: { [kind]: texts } }), wrong);
  }
});

pure("switchWarnings() passes over a key that is also in its place", () => {
  const maxCPU = { annotations: { "mbcas.io/max-cpu": "1" } };
  const other = { annotations: { "mbcas.io/max-cpu": "3" } };
  const allow = { [ALLOW_OVERRIDES]: "true" };
  const [yes, no] = [{ [MANAGED]: "true" }, { [MANAGED]: "false" }];
  const rows: readonly (readonly [count: number, Given])[] = [
    [1, { workload: maxCPU }],
    [0, { workload: maxCPU, pod: maxCPU }],
    [0, { workload: maxCPU, pod: other }],
    [0, { namespace: { labels: allow, annotations: allow } }],
    [0, { namespace: { labels: allow }, pod: { annotations: allow } }],
    // The namespace's other value does not replace the workload's.
    [1, { namespace: { labels: yes }, workload: { annotations: no } }],
  ];
  for (const [count, given] of rows) assert.equal(messages(given).length, count);
});

pure("switchWarnings() names misspelt keys, their places and the nearest known key", () => {
  const found = messages({
    pod: {
      labels: { "mbcas.io/manage": "false" },
      annotations: { "mbcas.io/maxcpu": "1", "mbcas.io/colour": "red", "mbcas.io/": "" },
    },
    namespace: { labels: { "mbcas.io/allow-override": "true" } },
    workload: { annotations: { "mbcas.io/hpa-cordination": "false" } },
    HPA: { annotations: { "mbcas.io/HPA-Coordination": "false" } },
  });
  const values = /(?<=mbcas\.io\/)[\w-]*|label|annotation|pod|namespace|workload|HPA(?!-)/g;
  assert.deepEqual(found.map((message) => message.match(values)?.join()), [
    "manage,label,pod,managed",
    "maxcpu,annotation,pod,max-cpu",
    "colour,annotation,pod",
    ",annotation,pod",
    "allow-override,label,namespace,allow-overrides",
    "hpa-cordination,annotation,workload,hpa-coordination",
    "HPA-Coordination,annotation,HPA,hpa-coordination",
  ]);
});
