import assert from "node:assert/strict";
import * as z from "zod";
import { DONE } from "../../tests/fixtures/sample_workloads.ts";
import {
  sampleAllocation,
  sampleDesired,
  samplePod,
} from "../../tests/contract/support/sample_objects.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { patternRule, withRules } from "./fields.ts";
import { type LabelRequirement, labelsMatch } from "./label_selector.ts";
import { agentLeaseRef, nodeOfAgentLease } from "./lease.ts";
import { MARKET_KEYS } from "./market_keys.ts";
import { nodeTermsOf } from "./node.ts";
import { podAllocationSchema } from "./pod_allocation.ts";
import { limitManagersOf } from "./managed_fields.ts";
import type { Reason } from "./reasons/reason.ts";
import { knownMarketReason, REASON_LISTS, remedyFor, sentenceOf } from "./reasons/reasons.ts";
import { isRollingOut, type RolloutState } from "./workload.ts";

const even = withRules(z.object({ count: z.int(), half: z.int().optional() }), {
  description: "An even number.",
  maxProperties: 2,
  rules: [{
    rule: "self.count % 2 == 0",
    message: "must be even",
    field: "count",
    holds: ({ count }) => count % 2 === 0,
  }, {
    rule: "!has(self.half) || self.half * 2 == self.count",
    message: "must fit",
    holds: ({ count, half }) => half === undefined || 2 * half === count,
  }],
});

pure("withRules() says each rule to the server, and refuses by the same rules", () => {
  const said = z.toJSONSchema(even.default({ count: 0 }), { target: "openapi-3.0", io: "input" });
  assert.partialDeepStrictEqual(said, {
    ...{ default: { count: 0 }, description: "An even number.", maxProperties: 2 },
    "x-kubernetes-validations": [
      { rule: "self.count % 2 == 0", message: "must be even", fieldPath: ".count" },
      { rule: "!has(self.half) || self.half * 2 == self.count", message: "must fit" },
    ],
  });
  const faults = (value: unknown): unknown =>
    even.safeParse(value).error?.issues.map(({ path, message }) => [path, message]);
  assert.equal(faults({ count: 4, half: 2 }), undefined);
  assert.deepEqual(faults({ count: 3 }), [[["count"], "must be even"]]);
  assert.deepEqual(faults({ count: 3, half: 1 }), [[["count"], "must be even"], [[], "must fit"]]);
});

pure("patternRule() holds for what the pattern matches, and quotes it for CEL", () => {
  const { rule, holds } = patternRule("^\\d+\\.$", "must be digits and a point");
  assert.equal(rule, "self.matches(r'^\\d+\\.$')");
  assert.deepEqual(["12.", "12", "12.\n"].map(holds), [true, false, false]);
});

function term(operator: LabelRequirement["operator"], values: string[] = []): LabelRequirement {
  return { key: "tier", operator, values };
}

function matches(labels: Record<string, string>, ...matchExpressions: LabelRequirement[]): boolean {
  return labelsMatch(labels, { matchLabels: {}, matchExpressions });
}

pure("labelsMatch() reads each operator as Kubernetes does, a missing label too", () => {
  const all = [{ tier: "web" }, {}, { tier: "" }] as const;
  const rows: readonly [LabelRequirement, boolean, boolean, boolean][] = [
    [term("In", ["web", "db"]), true, false, false],
    [term("In", ["db"]), false, false, false],
    [term("In", [""]), false, false, true],
    [term("NotIn", ["web", "db"]), false, true, true],
    [term("NotIn", ["db"]), true, true, true],
    [term("Exists"), true, false, true],
    [term("DoesNotExist"), false, true, false],
  ];
  for (const [one, ...expected] of rows) {
    assert.deepEqual(all.map((labels) => matches(labels, one)), expected, JSON.stringify(one));
  }
  assert.deepEqual(all.map((labels) => matches(labels)), [true, true, true]);
});

pure("labelsMatch() wants all terms, and takes no label for there that objects inherit", () => {
  const selector = { matchLabels: { app: "shop" }, matchExpressions: [term("In", ["web"])] };
  const all = [{ app: "shop", tier: "web" }, { app: "shop", tier: "db" }, { tier: "web" }];
  const found = [...all, { app: "other", tier: "web" }].map((one) => labelsMatch(one, selector));
  assert.deepEqual(found, [true, false, false, false]);
  for (const key of ["constructor", "toString", "__proto__"]) {
    const exists = { key, operator: "Exists", values: [] } as const;
    assert.equal(labelsMatch({}, { matchLabels: {}, matchExpressions: [exists] }), false, key);
  }
});

pure("nodeOfAgentLease() reads back what agentLeaseRef() names, and no other lease", () => {
  const metadata = (name: string) => ({
    metadata: { name, namespace: "mbcas-system", uid: "", resourceVersion: "" },
  });
  const { name, namespace } = agentLeaseRef("node-1.example.com");
  assert.equal(namespace, "mbcas-system");
  assert.equal(nodeOfAgentLease(metadata(name)), "node-1.example.com");
  assert.equal(nodeOfAgentLease(metadata("mbcas-controller")), undefined);
  assert.equal(nodeOfAgentLease(metadata("mbcas-agent-")), undefined);
});

Deno.test("MARKET_KEYS has the keys of the guide's table, in the places that it names", async () => {
  const guide = await Deno.readTextFile(new URL("../../docs/market.md", import.meta.url));
  const rows = new Map<string, Set<string>>();
  for (const [, key = "", on = ""] of guide.matchAll(/^\| `(mbcas\.io\/[^`]+)` +\| ([^|]+) \|/gm)) {
    const [texts = [], holders = []] = [/label|annotation/g, /pod|namespace|workload|HPA/g]
      .map((names) => [...on.matchAll(names)].map(([name]) => name));
    const places = holders.flatMap((holder) => texts.map((text) => `${text} of the ${holder}`));
    rows.set(key, new Set([...rows.get(key) ?? [], ...places]));
  }
  const expected = [...MARKET_KEYS].map(([key, { places }]) => [key, places.toSorted()]);
  assert.deepEqual([...rows].map(([key, on]) => [key, [...on].sort()]).sort(), expected.sort());
});

/** As a later version may have written it. */
function laterAllocation() {
  const web = samplePod("web");
  const allocation = sampleAllocation({ ...web, metadata: { ...web.metadata, uid: "u1" } });
  const { market, ...desired } = sampleDesired("300m");
  const condition = {
    ...{ type: "Applied", status: "False", reason: "HPACapped", message: "it needs the limit" },
    lastTransitionTime: "2026-01-01T00:00:00Z",
  };
  const rules = [{ reason: "Moonlight", message: "it is full" }];
  return {
    ...allocation,
    metadata: { ...allocation.metadata, uid: "a1", resourceVersion: "8" },
    spec: { ...allocation.spec, ...desired, market: { ...market, reason: "Reserved" } },
    status: {
      phase: "Pending",
      bounds: { revision: 1, reason: "Moonlight", rules, containers: [] },
      reason: "HPACapped",
      conditions: [condition, { ...condition, type: "Watched", status: "Unknown" }],
    },
  };
}

pure("podAllocationSchema reads the reasons and conditions of a later version", () => {
  const later = laterAllocation();
  const { spec, status } = podAllocationSchema.parse(later);
  assert.equal(spec.market?.reason, "Reserved");
  assert.equal(spec.desiredCPULimit, "300m");
  assert.deepEqual(status, later.status);
});

pure("podAllocationSchema refuses what is no allocation", () => {
  const later = laterAllocation();
  const { podName: _none, ...spec } = later.spec;
  const refuses = (change: object): boolean =>
    !podAllocationSchema.safeParse({ ...later, ...change }).success;
  assert.ok(refuses({ spec }));
  for (const member of ["name", "namespace", "uid", "resourceVersion"]) {
    assert.ok(refuses({ metadata: { ...later.metadata, [member]: undefined } }), member);
  }
  assert.ok(refuses({ status: { conditions: "none" } }));
});

pure("knownMarketReason() passes over reasons that this version does not know", () => {
  const found = ["Throttled", "Reserved", "constructor", undefined].map(knownMarketReason);
  assert.deepEqual(found, ["Throttled", undefined, undefined, undefined]);
});

function entry(manager: string, name: string, resources: unknown, list = "f:containers") {
  return {
    manager,
    operation: "Update",
    fieldsV1: { "f:spec": { [list]: { [`k:{"name":"${name}"}`]: { "f:resources": resources } } } },
  };
}

const LIMIT = { "f:limits": { ".": {}, "f:cpu": {} } };

pure("limitManagersOf() finds the managers of each container's limit, sorted", () => {
  const managers = limitManagersOf([
    entry("kube-controller-manager", "app", { "f:limits": { "f:memory": {} } }),
    entry("mbcas", "app", LIMIT),
    entry("kubectl-patch", "proxy", LIMIT, "f:initContainers"),
    { manager: "kubelet", fieldsV1: { "f:status": { "f:containerStatuses": {} } } },
    // Two that share a limit, one of them in two entries.
    ...["argocd", "argocd"].map((manager) => entry(manager, "app", LIMIT)),
  ]);
  assert.deepEqual([...managers], [["app", ["argocd", "mbcas"]], ["proxy", ["kubectl-patch"]]]);
});

pure("limitManagersOf() passes over what it does not know", () => {
  const odd = [
    {},
    { manager: "x", fieldsV1: null },
    { manager: "x", fieldsV1: "text" },
    { manager: "x", fieldsV1: { "f:spec": { "f:containers": { ".": {}, "k:{bad": LIMIT } } } },
    {
      manager: "x",
      fieldsV1: { "f:spec": { "f:containers": { 'k:{"port":1}': LIMIT, "k:null": 1 } } },
    },
  ];
  assert.equal(limitManagersOf(odd).size, 0);
});

const FOLDER = new URL("../../tests/fixtures/managed-fields/", import.meta.url);

/** By recorded step: the managers of the limits of `app` and of the sidecar `proxy`. */
const EXPECTED: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  ["01-created", ["kube-controller-manager"], ["kube-controller-manager"]],
  ["02-raised-by-mbcas", ["mbcas"], ["kube-controller-manager"]],
  ["03-then-kubectl-patch", ["kubectl-patch"], ["kube-controller-manager"]],
  ["04-then-mbcas", ["mbcas"], ["kube-controller-manager"]],
  ["05-same-value-patched-by-another", ["mbcas"], ["kube-controller-manager"]],
  ["06-same-value-applied-by-another", ["argocd", "mbcas"], ["kube-controller-manager"]],
  ["07-mbcas-after-the-apply", ["mbcas"], ["kube-controller-manager"]],
  ["08-applied-with-force", ["argocd"], ["kube-controller-manager"]],
  ["09-sidecar-by-mbcas", ["argocd"], ["mbcas"]],
  ["10-back-at-the-original-limit", ["mbcas"], ["mbcas"]],
];

for (const [step, app, proxy] of EXPECTED) {
  Deno.test(`limitManagersOf() reads a real server's record: ${step}`, async () => {
    const { managedFields } = JSON.parse(
      await Deno.readTextFile(new URL(`${step}.json`, FOLDER)),
    ) as { managedFields: unknown };
    const managers = limitManagersOf(managedFields);
    assert.deepEqual([managers.get("app"), managers.get("proxy")], [app, proxy]);
  });
}

pure("isRollingOut() is true until the last old pod is gone, or none is replaced", () => {
  const rows: readonly (readonly [Partial<RolloutState>, boolean])[] = [
    [{}, false],
    [{ updated: 0, total: 0 }, false],
    [{ updated: 0 }, true],
    [{ updated: 2 }, true],
    [{ total: 4 }, true],
    [{ updated: 1, total: 4, halted: true }, false],
  ];
  for (const [change, rolls] of rows) assert.equal(isRollingOut({ ...DONE, ...change }), rolls);
});

pure("REASON_LISTS has the same meaning for a reason in each list, without a period", () => {
  const seen = new Map<string, Reason>();
  for (const list of Object.values(REASON_LISTS)) {
    for (const [name, reason] of Object.entries<Reason>(list)) {
      assert.match(name, /^[A-Z][A-Za-z]+$/);
      assert.match(reason.means, /[^.]$/);
      assert.match(reason.remedy, /^[a-z].*[^.]$/i);
      // The product may be in another namespace.
      assert.doesNotMatch(reason.remedy, /mbcas-system/);
      assert.equal(seen.get(name) ?? reason, reason, name);
      seen.set(name, reason);
    }
  }
});

pure("sentenceOf() and remedyFor() know the reasons of all lists", () => {
  assert.match(sentenceOf("PodNotReady"), /not Ready/);
  assert.match(remedyFor("Applied") ?? "", /^nothing: /);
  assert.equal(remedyFor("ReasonOfALaterVersion"), undefined);
  assert.match(remedyFor("QuotaExceeded") ?? "", /ResourceQuota/);
});

pure("nodeTermsOf() reads names of nodes as labels of hosts, and null as an empty list", () => {
  const byName = { key: "metadata.name", operator: "In", values: ["n1"] };
  const matchExpressions = [{ key: "zone", operator: "Exists" }];
  const terms = [{ matchFields: [byName] }, { matchExpressions, matchFields: null }];
  assert.deepEqual(nodeTermsOf({ nodeSelectorTerms: terms }), [
    [{ key: "kubernetes.io/hostname", operator: "In", values: ["n1"] }],
    [{ key: "zone", operator: "Exists", values: [] }],
  ]);
  assert.deepEqual(nodeTermsOf({ nodeSelectorTerms: null }), []);
});
