/** The definitions of OptimizationPolicy and RecommendationReport. */
import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { optimizationPolicyCRD } from "./optimization_policy_crd.ts";
import { recommendationReportCRD } from "./recommendation_report_crd.ts";
import type { JSONValue } from "./structural_schema.ts";

/** The value at a path of keys and indices; undefined where there is none. */
function at(value: JSONValue | undefined, path: string): JSONValue | undefined {
  let found: unknown = value;
  for (const key of path.split("/")) {
    if (typeof found !== "object" || found === null) return undefined;
    found = Reflect.get(found, key);
  }
  return found as JSONValue | undefined;
}

/** Every schema of a field, with its path; items and values of maps as well. */
function fields(schema: JSONValue | undefined, path: string): [string, JSONValue][] {
  const below = at(schema, "properties") ?? at(schema, "items/properties") ?? {};
  return Object.entries(below as object).flatMap(([name, field]) => [
    [`${path}.${name}`, field],
    ...fields(field, `${path}.${name}`),
  ]);
}

const POLICY = "spec/versions/0/schema/openAPIV3Schema";
const policy = at(optimizationPolicyCRD(), POLICY);
const report = at(recommendationReportCRD(), POLICY);
const spec = at(policy, "properties/spec");

function field(path: string): JSONValue | undefined {
  return at(spec, `properties/${path.split(".").join("/properties/")}`);
}

pure("optimizationPolicyCRD() is what kubectl get optpol shows", () => {
  const crd = optimizationPolicyCRD();
  assert.equal(at(crd, "metadata/name"), "optimizationpolicies.optipod.io");
  assert.deepEqual(at(crd, "spec/names/shortNames"), ["optpol"]);
  assert.equal(at(crd, "spec/scope"), "Namespaced");
  assert.equal(at(crd, "spec/versions/0/name"), "v1alpha1");
  assert.deepEqual(at(crd, "spec/versions/0/subresources"), { status: {} });
  const columns = at(crd, "spec/versions/0/additionalPrinterColumns") as { name: string }[];
  assert.deepEqual(columns.map(({ name }) => name), [
    "Mode",
    "Provider",
    "Discovered",
    "Ready",
    "Age",
  ]);
});

pure("optimizationPolicyCRD() and recommendationReportCRD() describe each field", () => {
  for (const [schema, least] of [[policy, 60], [report, 20]] as const) {
    const described = fields(schema, "").filter(([path]) => path !== ".metadata");
    assert.ok(described.length > least, `${described.length} fields`);
    for (const [path, one] of described) {
      assert.equal(typeof at(one, "description"), "string", `${path} has no description`);
    }
  }
});

pure(
  "optimizationPolicyCRD() bounds lists, maps and texts, so that rules have a bounded cost",
  () => {
    const bounded = fields(spec, "").filter(([, one]) =>
      ["array", "string"].includes(String(at(one, "type"))) || at(one, "additionalProperties")
    );
    assert.ok(bounded.length > 15);
    for (const [path, one] of bounded) {
      const bound = at(one, "maxItems") ?? at(one, "maxLength") ?? at(one, "maxProperties") ??
        at(one, "enum");
      assert.ok(bound !== undefined, path);
    }
    assert.equal(at(field("resourceBounds.cpu.min"), "maxLength"), 64);
  },
);

pure("optimizationPolicyCRD() has the defaults, so that the server fills them in", () => {
  const defaults = Object.fromEntries(
    fields(spec, "").flatMap(([path, one]) => {
      const value = at(one, "default");
      return value === undefined || path.startsWith(".selector") ? [] : [[path.slice(1), value]];
    }),
  );
  assert.deepEqual(defaults, {
    "weight": 100,
    "metricsConfig.rollingWindow": "24h",
    "metricsConfig.percentile": "P90",
    "metricsConfig.safetyFactor": 1.2,
    "metricsConfig.minSamples": 10,
    "updateStrategy": {},
    "updateStrategy.allowInPlaceResize": true,
    "updateStrategy.allowRecreate": false,
    "updateStrategy.updateRequestsOnly": true,
    "updateStrategy.limitConfig": {},
    "updateStrategy.limitConfig.cpuLimitMultiplier": 1,
    "updateStrategy.limitConfig.memoryLimitMultiplier": 1.1,
    "updateStrategy.changeThresholdPercent": 10,
    "updateStrategy.cooldown": "30m",
    "updateStrategy.useServerSideApply": true,
    "updateStrategy.allowWithHPA": false,
    "updateStrategy.publishVPA": false,
    "reconciliationInterval": "5m",
  });
  assert.deepEqual(at(spec, "required"), ["mode", "selector", "metricsConfig", "resourceBounds"]);
});

pure("optimizationPolicyCRD() takes quantities as text and as numbers, as OptiPod does", () => {
  for (const bound of ["cpu.min", "cpu.max", "memory.min", "memory.max"]) {
    const quantity = field(`resourceBounds.${bound}`);
    assert.equal(at(quantity, "x-kubernetes-int-or-string"), true);
    // Both are refused beside it.
    assert.deepEqual([at(quantity, "type"), at(quantity, "anyOf")], [undefined, undefined]);
  }
});

pure("optimizationPolicyCRD() has a message for each rule that its author can follow", () => {
  const rules = [["", spec] as const, ...fields(spec, "")].flatMap(([path, one]) => {
    const own = (at(one, "x-kubernetes-validations") ?? []) as { message: string }[];
    return own.map(({ message }) => [path.slice(1), message] as const);
  });
  const messages = (path: string) => rules.filter(([one]) => one === path).map(([, text]) => text);
  for (const [path, message] of rules) assert.match(message, /^must /, path);
  const [duration = "", most = "", least = "", ...others] = messages("reconciliationInterval");
  assert.match(duration, /duration/);
  assert.match(most, /most 100000d$/);
  assert.match(least, /least 10s$/);
  assert.deepEqual(others, []);
  assert.match(messages("metricsConfig.rollingWindow").join(), /must be above 0/);
  for (
    const path of [
      "selector",
      "metricsConfig",
      "resourceBounds.cpu",
      "resourceBounds.memory.max",
      "updateStrategy.cooldown",
      "selector.workloadSelector.matchLabels",
    ]
  ) {
    assert.ok(messages(path).length > 0, path);
  }
});

pure(
  "recommendationReportCRD() keeps workloads as a whole, without a record of their fields",
  () => {
    assert.equal(at(report, "properties/workloads/x-kubernetes-list-type"), "atomic");
    assert.equal(
      at(recommendationReportCRD(), "metadata/name"),
      "recommendationreports.optipod.io",
    );
  },
);
