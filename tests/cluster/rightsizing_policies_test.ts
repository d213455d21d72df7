/**
 * Policies as objects, and their selectors: what a real API server takes and refuses, and what it finds
 * by them.
 *
 * @module
 */
import fc from "fast-check";
import assert from "node:assert/strict";
import { resourcePath } from "../../adapters/kube/client/connection.ts";
import { listOf, objectOf } from "../../adapters/kube/client/json_fields.ts";
import { POLICIES } from "../../adapters/kube/kinds/optimization_policies.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import { faultText } from "../../shared/api/fields.ts";
import { type Labels, type LabelSelector, labelsMatch } from "../../shared/api/label_selector.ts";
import { readPolicySpec } from "../../shared/rightsizing/policy_spec.ts";
import { SAMPLE_POLICY_SPEC } from "../contract/support/sample_objects.ts";
import { WELL_FORMED, type WrittenSpec } from "../fixtures/rightsizing/written_policies.ts";
import { createKubectl } from "./kubectl.ts";
import { applyDefinitions } from "./rendered_manifests.ts";
import { type ContractWorld, worldTest as property } from "./scene/contract_world.ts";

Deno.test.beforeAll(() => applyDefinitions(createKubectl()));

function policyOf(name: string, spec: WrittenSpec): Readonly<Record<string, unknown>> {
  return {
    apiVersion: "optipod.io/v1alpha1",
    kind: "OptimizationPolicy",
    metadata: { name },
    spec,
  };
}

/** The spec as the server admits it, or why it refuses it; nothing is stored. */
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

/** Terms of each kind, with values that are no labels' and an empty one. */
const TERMS: readonly LabelSelector[] = ["app", "example.com/tier", "constructor"].flatMap((
  key,
) => [
  ...["", "a", "a_b.c-d"].map((value) => ({ matchLabels: { [key]: value }, matchExpressions: [] })),
  ...([["In", ["a"]], ["In", ["", "b"]], ["NotIn", ["a"]], ["NotIn", ["", "b"]]] as const).map(
    ([operator, values]) => ({ matchLabels: {}, matchExpressions: [{ key, operator, values }] }),
  ),
  ...(["Exists", "DoesNotExist"] as const).map((operator) => ({
    matchLabels: {},
    matchExpressions: [{ key, operator, values: [] }],
  })),
]);

/** As a query (`LabelSelectorAsSelector` of k8s.io/apimachinery). */
function queryOf({ matchLabels, matchExpressions }: LabelSelector): string {
  const terms = matchExpressions.map(({ key, operator, values }) => {
    if (operator === "Exists") return key;
    if (operator === "DoesNotExist") return `!${key}`;
    return `${key} ${operator.toLowerCase()} (${values.join(",")})`;
  });
  return [...Object.entries(matchLabels).map((pair) => pair.join("=")), ...terms].join();
}

property(
  "labelsMatch() finds by each term, and by each two, what a real API server finds",
  async ({ connection, namespace }) => {
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    const values = [undefined, "", "a", "b", "a_b.c-d", "A"];
    const all = new Map<string, Labels>();
    for (const [index, app] of values.entries()) {
      const labels = {
        ...(app === undefined ? {} : { app }),
        ...(index % 2 === 0
          ? {}
          : { "example.com/tier": values[index - 1] ?? "b", constructor: "a" }),
        own: "1",
      };
      await connection.request({
        method: "POST",
        path,
        body: { metadata: { name: `m${index}`, labels } },
      });
      all.set(`m${index}`, labels);
    }
    const found = new Set<number>();
    for (const one of TERMS) {
      await Promise.all(TERMS.map(async (other) => {
        const matchLabels = { ...one.matchLabels, ...other.matchLabels };
        const matchExpressions = [...one.matchExpressions, ...other.matchExpressions];
        const selector = { matchLabels, matchExpressions };
        const labelSelector = `own=1,${queryOf(selector)}`;
        const { items } = objectOf(await connection.request({ path, query: { labelSelector } }));
        const names = [...all].filter(([, labels]) => labelsMatch(labels, selector));
        assert.deepEqual(
          listOf(items).map((item) => objectOf(objectOf(item).metadata).name).sort(),
          names.map(([name]) => name),
          labelSelector,
        );
        found.add(names.length);
      }));
    }
    assert.ok(found.size > 4, `${[...found]}`);
  },
);
