/**
 * Numbered properties of policies and reports as objects: what a real API server takes, refuses and
 * gives back.
 *
 * @module
 */
import fc from "fast-check";
import assert from "node:assert/strict";
import { resourcePath } from "../../adapters/kube/client/connection.ts";
import { listOf, objectOf } from "../../adapters/kube/client/json_fields.ts";
import {
  parseOptimizationPolicy,
  parseRecommendationReport,
  POLICIES,
  REPORTS,
} from "../../adapters/kube/kinds/optimization_policies.ts";
import {
  createPolicyStatusWriter,
  createReportStore,
} from "../../adapters/kube/writers/recommendation_writers.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import { faultText } from "../../shared/api/fields.ts";
import { buildPolicyStatus } from "../../shared/rightsizing/build_policy_status.ts";
import { readPolicySpec } from "../../shared/rightsizing/policy_spec.ts";
import { recordsOf, type ReportPart, reportParts } from "../../shared/rightsizing/reports.ts";
import { SAMPLE_POLICY_SPEC } from "../contract/support/sample_objects.ts";
import { workloadRecords } from "../fixtures/rightsizing/workload_records.ts";
import {
  MISTAKES,
  WELL_FORMED,
  withField,
  type WrittenSpec,
} from "../fixtures/rightsizing/written_policies.ts";
import { createKubectl } from "./kubectl.ts";
import { applyDefinitions } from "./rendered_manifests.ts";
import { type ContractWorld, worldTest as property } from "./scene/contract_world.ts";

const CASES = { numRuns: 100 } as const;

Deno.test.beforeAll(() => applyDefinitions(createKubectl()));

function policyOf(name: string, spec: WrittenSpec): Readonly<Record<string, unknown>> {
  return {
    apiVersion: "optipod.io/v1alpha1",
    kind: "OptimizationPolicy",
    metadata: { name },
    spec,
  };
}

/** What the server makes of the spec, or why it refuses it; nothing is stored. */
async function submit(
  { connection, namespace }: ContractWorld,
  spec: WrittenSpec,
): Promise<{ readonly spec: unknown } | { readonly refusal: ApiError }> {
  try {
    const made = await connection.request({
      method: "POST",
      path: resourcePath({ ...POLICIES, namespace }),
      query: { dryRun: "All" },
      body: policyOf("drawn", spec),
    });
    return { spec: objectOf(made).spec };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { refusal: error };
  }
}

property(
  "property 15: well-formed policies are accepted, and mean what was written, on a real API server",
  async (world) => {
    await fc.assert(
      fc.asyncProperty(WELL_FORMED, async ({ spec: written }) => {
        const answer = await submit(world, written);
        assert.ok("spec" in answer, "refusal" in answer ? answer.refusal.message : "");
        const { spec, faults } = readPolicySpec(answer.spec);
        assert.deepEqual(faults.map(faultText), []);
        assert.deepEqual(spec, readPolicySpec(written).spec);
      }),
      { numRuns: 200 },
    );
  },
);

/**
 * Rules are only asked of what has its types and its required fields: a term with one mistake is whole.
 */
const TERM = "spec.selector.workloadSelector.matchExpressions[0]";
const WHOLE_TERM = { key: "app", operator: "In", values: ["web"] };

/** Messages of the server's own schema: of a wrong type, and of a number that is out of its range. */
const SCHEMA_MESSAGES =
  /in body (must be of type (boolean|integer|integer,string|number|string|object):|should be (greater|less) than or equal to \d)/;

const mistake = fc.constantFrom(...MISTAKES).chain(([field, wrong, valid]) =>
  fc.record({ field: fc.constant(field), value: wrong, valid: fc.constant(valid) })
);

property(
  "property 15: malformed policies are refused with the field's name and what is valid, on a real API server",
  async (world) => {
    const fields = new Set<string>();
    await fc.assert(
      fc.asyncProperty(WELL_FORMED, mistake, async ({ spec }, { field, value, valid }) => {
        const whole = field.startsWith(TERM) ? withField(spec, TERM, WHOLE_TERM) : spec;
        const answer = await submit(world, withField(whole, field, value));
        assert.ok("refusal" in answer, `${field}: ${JSON.stringify(value)} was taken`);
        const { status, message } = answer.refusal;
        assert.equal(status, 422, message);
        // The server writes keys of a map in brackets.
        const names = [field, field.replace(/\.([^.]+)$/, "[$1]")];
        const isNamed = names.some((name) => message.includes(name));
        assert.ok(isNamed, `${field}: ${JSON.stringify(value)}: ${message}`);
        const own = message.replaceAll('"', "");
        const isValid = valid.test(own) || SCHEMA_MESSAGES.test(own);
        assert.ok(isValid, `${field}: ${JSON.stringify(value)}: ${message}`);
        fields.add(field);
      }),
      { numRuns: 500 },
    );
    assert.equal(fields.size, MISTAKES.length);
  },
);

/** Texts that are often a label's key or value, and often just not. */
const almost = fc.oneof(
  fc.string({ unit: fc.constantFrom(..."aaaA0-._/"), minLength: 1, maxLength: 6 }),
  fc.tuple(fc.integer({ min: 61, max: 65 }), fc.constantFrom("", "-", "."))
    .map(([length, end]) => "x".repeat(length) + end),
);
const almostKey = fc.oneof(
  almost,
  fc.tuple(fc.integer({ min: 248, max: 258 }), almost)
    .map(([length, name]) => `${"x.".repeat(length / 2)}${"x".repeat(length % 2)}x/${name}`),
);

property(
  "property 15: selectors name exactly the labels that the server knows as such, on a real API server",
  async (world) => {
    const { connection, namespace } = world;
    const outcomes = { taken: 0, refused: 0 };
    const isLabel = (labelSelector: string): Promise<boolean> =>
      connection.request({
        path: `/api/v1/namespaces/${namespace}/configmaps`,
        query: { labelSelector, limit: "1" },
      }).then(() => true, (error: unknown) => {
        assert.ok(error instanceof ApiError && error.status === 400, String(error));
        return false;
      });
    await fc.assert(
      fc.asyncProperty(almostKey, fc.oneof(almost, fc.constant("")), async (key, value) => {
        const expected = await isLabel(`${key}=${value}`);
        for (
          const selector of [
            { matchLabels: { [key]: value } },
            { matchExpressions: [{ key, operator: "In", values: [value] }] },
          ]
        ) {
          const spec = { ...SAMPLE_POLICY_SPEC, selector: { workloadSelector: selector } };
          const answer = await submit(world, spec);
          const context = `${JSON.stringify(selector)} ${JSON.stringify(answer)}`;
          assert.equal("spec" in answer, expected, context);
          assert.equal(readPolicySpec(spec).spec !== undefined, expected, context);
        }
        outcomes[expected ? "taken" : "refused"]++;
      }),
      { numRuns: 200 },
    );
    assert.ok(outcomes.taken > 20 && outcomes.refused > 20, JSON.stringify(outcomes));
  },
);

/** The object at a version that was stored, though others may have written since. */
async function readAt(
  { connection }: ContractWorld,
  { collection, name, version }: {
    readonly collection: string;
    readonly name: string;
    readonly version: string;
  },
): Promise<unknown> {
  const { items } = objectOf(
    await connection.request({
      path: collection,
      query: {
        fieldSelector: `metadata.name=${name}`,
        resourceVersion: version,
        resourceVersionMatch: "Exact",
      },
    }),
  );
  const [found, ...more] = listOf(items);
  assert.ok(found !== undefined && more.length === 0, `${name} at ${version}`);
  return found;
}

/** Tries again where a running controller has written in between. */
async function uncontested(act: () => Promise<void>): Promise<void> {
  for (let left = 10;; left--) {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 409 || left === 0) throw error;
    }
  }
}

const facts = fc.record({
  difference: fc.double({ min: 0, noNaN: true }),
  metricsMissing: fc.boolean(),
});

property(
  "property 31: policies and their statuses are read back unchanged, on a real API server",
  async (world) => {
    const { connection, namespace } = world;
    const collection = resourcePath({ ...POLICIES, namespace });
    const writer = createPolicyStatusWriter(connection);
    let drawn = 0;
    await fc.assert(
      fc.asyncProperty(
        WELL_FORMED,
        workloadRecords(namespace, { mostWorkloads: 10 }),
        fc.array(facts, { minLength: 10, maxLength: 10 }),
        fc.boolean(),
        async ({ spec }, records, found, dryRun) => {
          const name = `drawn-${drawn++}`;
          const path = resourcePath({ ...POLICIES, namespace, name });
          const body = policyOf(name, spec);
          const made = await connection.request({ method: "POST", path: collection, body });
          const policy = parseOptimizationPolicy(made);
          assert.deepEqual(policy.spec, readPolicySpec(spec).spec);
          const status = buildPolicyStatus({
            nowMs: Date.UTC(2026, 0, 1),
            generation: policy.metadata.generation,
            before: {},
            dryRun,
            workloads: records.map((record, index) => ({
              record,
              difference: found[index]?.difference ?? 0,
              metricsMissing: found[index]?.metricsMissing === true,
            })),
          });
          await uncontested(async () => {
            const present = parseOptimizationPolicy(await connection.request({ path }));
            const version = await writer.writeStatus(present, status);
            const stored = await readAt(world, { collection, name, version });
            const again = parseOptimizationPolicy(stored);
            assert.deepEqual(again.status, status);
            assert.deepEqual(again.spec, policy.spec);
            assert.deepEqual(objectOf(stored).spec, objectOf(made).spec);
            // Written once more as it was read, nothing has changed.
            assert.deepEqual(
              await connection.request({ method: "PUT", path, body: stored }),
              stored,
            );
          });
          await connection.request({ method: "DELETE", path });
        },
      ),
      CASES,
    );
  },
);

property(
  "property 31: reports are read back unchanged, on a real API server",
  async (world) => {
    const { connection, namespace } = world;
    const collection = resourcePath({ ...REPORTS, namespace });
    const store = createReportStore(connection);
    let reports = 0;
    const versions = new Map<string, string>();
    const apply = async (part: ReportPart): Promise<string> => {
      const known = versions.get(part.name);
      const { metadata: { resourceVersion } } = await store.apply({
        ...part,
        namespace,
        ...(known === undefined ? {} : { resourceVersion: known }),
      });
      versions.set(part.name, resourceVersion);
      return resourceVersion;
    };
    await fc.assert(
      fc.asyncProperty(workloadRecords(namespace), async (records) => {
        const parts = reportParts(records);
        const read = [];
        for (const part of parts) {
          const { name, workloads } = part;
          // Made first, where it is not there: the next one is then the first that is applied.
          if (!versions.has(name)) await apply(part);
          const version = await apply(part);
          const raw = await readAt(world, { collection, name, version });
          assert.deepEqual(objectOf(raw).workloads, JSON.parse(JSON.stringify(workloads)));
          read.push(parseRecommendationReport(raw));
          // The same again is no change.
          assert.equal(await apply(part), version);
          reports++;
        }
        assert.deepEqual(reportParts(recordsOf(read, namespace)), parts);
      }),
      CASES,
    );
    assert.ok(reports > CASES.numRuns / 2, `${reports}`);
  },
);
