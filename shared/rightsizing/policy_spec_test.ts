import fc from "fast-check";
import assert from "node:assert/strict";
import { assertMatches } from "../../tests/fixtures/assert_matches.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import {
  MISTAKES,
  WELL_FORMED,
  withField,
  type WrittenSpec,
} from "../../tests/fixtures/rightsizing/written_policies.ts";
import { faultText } from "../api/fields.ts";
import type { UsageProvider } from "../api/optimization_policy.ts";
import { readPolicySpec } from "./policy_spec.ts";

/** The required fields, and nothing else. */
const LEAST: WrittenSpec = {
  mode: "Recommend",
  selector: { workloadSelector: {} },
  metricsConfig: { provider: "prometheus" },
  resourceBounds: { cpu: { min: "100m", max: 2 }, memory: { min: "128Mi", max: "1Gi" } },
};

/** Checks field and value of each fault, and what it says is valid. */
function assertFaults(
  raw: unknown,
  expected: readonly (readonly [field: string, value: string | undefined, valid: RegExp])[],
): void {
  const { spec, faults } = readPolicySpec(raw);
  assert.equal(spec === undefined, faults.length > 0);
  assert.deepEqual(
    faults.map(({ field, value }) => [field, value]),
    expected.map(([field, value]) => [field, value]),
  );
  assertMatches(faults.map(({ valid }) => valid), expected.map(([, , valid]) => valid));
}

pure("readPolicySpec() gives each field that is not there its default", () => {
  assert.deepEqual(readPolicySpec(LEAST), {
    spec: {
      mode: "Recommend",
      weight: 100,
      selector: {
        workloadSelector: { matchLabels: {}, matchExpressions: [] },
        workloadKinds: ["Deployment", "StatefulSet", "DaemonSet"],
      },
      provider: "prometheus",
      windowMs: 86_400_000,
      percentile: "P90",
      safetyFactor: 1.2,
      minSamples: 10,
      bounds: { cpu: { min: 100, max: 2000 }, memory: { min: 128 * 2 ** 20, max: 2 ** 30 } },
      updateStrategy: {
        allowInPlaceResize: true,
        allowRecreate: false,
        updateRequestsOnly: true,
        limitMultipliers: { cpu: 1, memory: 1.1 },
        changeThresholdPercent: 10,
        cooldownMs: 1_800_000,
        useServerSideApply: true,
        allowWithHPA: false,
        publishVPA: false,
      },
      intervalMs: 300_000,
    },
    faults: [],
  });
});

pure("readPolicySpec() takes provider, source, samples and kinds from several fields", () => {
  const of = (change: WrittenSpec, provider?: UsageProvider) =>
    readPolicySpec({ ...LEAST, ...change }, provider === undefined ? {} : { provider });
  const open = { metricsConfig: {} };
  const named = (provider?: string) => ({
    metricsConfig: { ...(provider && { provider }), custom: { name: "warehouse" } },
  });
  assert.equal(of(open, "metrics-server").spec?.provider, "metrics-server");
  assert.equal(of({}, "metrics-server").spec?.provider, "prometheus");
  assertFaults({ ...LEAST, ...open }, [
    ["spec.metricsConfig.provider", undefined, /metrics-server.*rightsizing\.provider/],
  ]);
  assert.deepEqual(of(open, "custom").faults.map(({ field }) => field), [
    "spec.metricsConfig.custom",
  ]);
  assert.equal(of(named(), "custom").spec?.customSource, "warehouse");
  assert.equal(of(named("custom")).spec?.customSource, "warehouse");
  assert.equal(of(named("prometheus")).spec?.customSource, undefined);
  const samples = (metricsConfig: WrittenSpec) =>
    of({ metricsConfig: { provider: "prometheus", ...metricsConfig } }).spec?.minSamples;
  const both = { minSamples: 20, metricsServer: { minSamplesRequired: 30 } };
  const found = [samples({ minSamples: 20 }), samples(both), samples({ ...both, minSamples: 10 })];
  assert.deepEqual(found, [20, 30, 30]);
  assert.equal(samples({ minSamples: 20, metricsServer: {} }), 20);
  const kinds = (workloadTypes: WrittenSpec) =>
    of({ selector: { namespaces: {}, workloadTypes } }).spec?.selector.workloadKinds.join();
  assert.equal(kinds({}), "Deployment,StatefulSet,DaemonSet");
  const include = ["DaemonSet", "Deployment", "DaemonSet"];
  assert.equal(kinds({ include }), "Deployment,DaemonSet");
  assert.equal(kinds({ exclude: ["StatefulSet"] }), "Deployment,DaemonSet");
  assert.equal(kinds({ include: ["StatefulSet"], exclude: ["StatefulSet"] }), "");
});

pure("readPolicySpec() takes label keys with a prefix of 253 characters", () => {
  const assertFaulty = (prefix: string, fields: readonly string[]): void => {
    const key = `${prefix}/a`;
    const matchExpressions = [{ key, operator: "Exists" }];
    const selector = { workloadSelector: { matchLabels: { [key]: "" }, matchExpressions } };
    const { faults } = readPolicySpec({ ...LEAST, selector });
    assert.deepEqual(faults.map(({ field }) => field), fields);
    assertMatches(faults.map(({ valid }) => valid), fields.map(() => / keys?, .*app or /));
  };
  const longest = `${"x.".repeat(126)}x`;
  assertFaulty(longest, []);
  assertFaulty(`${longest}x`, [
    "spec.selector.workloadSelector.matchLabels",
    "spec.selector.workloadSelector.matchExpressions[0].key",
  ]);
});

pure("readPolicySpec() names what is no spec", () => {
  assertFaults(undefined, [["spec", undefined, / object$/]]);
  assertFaults([], [["spec", "a list of 0", / object$/]]);
  assertFaults({ ...LEAST, selector: { workloadTypes: {} } }, [
    ["spec.selector", "an object", / namespaceSelector, workloadSelector and namespaces$/],
  ]);
});

pure("property 15: readPolicySpec() takes well-formed policies for what they say", () => {
  fc.assert(
    fc.property(WELL_FORMED, ({ spec: written, meant }) => {
      const before = JSON.stringify(written);
      const { spec, faults } = readPolicySpec(written);
      assert.deepEqual(faults.map(faultText), []);
      assert.ok(spec !== undefined);
      assert.equal(JSON.stringify(written), before);
      assert.deepEqual(
        {
          windowMs: spec.windowMs,
          intervalMs: spec.intervalMs,
          cooldownMs: spec.updateStrategy.cooldownMs,
          bounds: spec.bounds,
        },
        meant,
      );
    }),
  );
});

pure("property 15: readPolicySpec() refuses a mistake in any field, and names the field", () => {
  for (const [field, wrong, valid] of MISTAKES) {
    fc.assert(fc.property(WELL_FORMED, wrong, ({ spec: written }, value) => {
      const { spec, faults } = readPolicySpec(withField(written, field, value));
      assert.equal(spec, undefined, `${field}: ${JSON.stringify(value)} was taken`);
      const own = faults.filter((fault) => fault.field === field);
      assert.equal(own.length > 0, true, faults.map(faultText).join("; "));
      assert.match(own.map((fault) => fault.valid).join("; "), valid);
    }));
  }
});

pure("property 15: readPolicySpec() refuses bounds in the wrong order", () => {
  const bound = fc.integer({ min: 1, max: 10_000 });
  fc.assert(fc.property(bound, bound, fc.boolean(), (a, b, exists) => {
    const [min, max] = [Math.max(a, b) + 1, Math.min(a, b)];
    assertFaults(
      withField(LEAST, "spec.resourceBounds.memory", { min, max }),
      [["spec.resourceBounds.memory.min", String(min), /above max$/]],
    );
    const term = exists
      ? { key: "app", operator: a % 2 === 0 ? "Exists" : "DoesNotExist", values: ["web"] }
      : { key: "app", operator: a % 2 === 0 ? "In" : "NotIn", values: [] };
    const field = "spec.selector.namespaceSelector.matchExpressions[0]";
    const [fault, ...more] = readPolicySpec(withField(LEAST, field, term)).faults;
    assert.deepEqual([fault?.field, more], [`${field}.values`, []]);
    assert.match(fault?.valid ?? "", exists ? / empty / : / one value /);
  }));
});

pure("property 15: readPolicySpec() never throws, whatever stands in a policy", () => {
  fc.assert(fc.property(fc.jsonValue(), fc.constantFrom(...MISTAKES), (value, [field]) => {
    const { faults } = readPolicySpec(withField(LEAST, field, value));
    for (const fault of faults) assert.match(faultText(fault), /^spec\S* is .+: must /);
  }));
});
