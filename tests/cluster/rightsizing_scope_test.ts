/**
 * Numbered properties of the scope of policies: what we find by random selectors is what a real API
 * server finds by them.
 *
 * @module
 */
import fc from "fast-check";
import assert from "node:assert/strict";
import { type OpenKubeConnection, resourcePath } from "../../adapters/kube/client/connection.ts";
import { listOf, objectOf } from "../../adapters/kube/client/json_fields.ts";
import { connectKubeconfig } from "../../adapters/kube/client/connect.ts";
import { parseNamespace } from "../../adapters/kube/kinds/namespaces.ts";
import { POLICIES } from "../../adapters/kube/kinds/optimization_policies.ts";
import { parseWorkload, workloadCollection } from "../../adapters/kube/kinds/workloads.ts";
import { faultText } from "../../shared/api/fields.ts";
import type { Labels, LabelSelector } from "../../shared/api/label_selector.ts";
import type { Workload } from "../../shared/api/workload.ts";
import { isInScope, matchesWorkload } from "../../shared/rightsizing/policy_match.ts";
import {
  type PolicySelector,
  readPolicySpec,
  WORKLOAD_KINDS,
} from "../../shared/rightsizing/policy_spec.ts";
import { SAMPLE_POLICY_SPEC } from "../contract/support/sample_objects.ts";
import { createKubectl } from "./kubectl.ts";
import { applyDefinitions } from "./rendered_manifests.ts";

const CASES = { numRuns: 150 } as const;
/** Namespaces, and workloads of each; enough that few selectors find none. */
const PLACES = 4;
const WORKLOADS = 9;

const value = fc.constantFrom("", "a", "b", "a_b.c-d", "A");
const key = fc.constantFrom("app", "example.com/tier", "constructor", "A.b_c");
const labels: fc.Arbitrary<Labels> = fc.dictionary(key, value, { maxKeys: 3 });

const term = fc.oneof(
  fc.record({
    key,
    operator: fc.constantFrom("In" as const, "NotIn" as const),
    values: fc.array(value, { minLength: 1, maxLength: 3 }),
  }),
  fc.record({
    key,
    operator: fc.constantFrom("Exists" as const, "DoesNotExist" as const),
    values: fc.constant([]),
  }),
);

const labelSelector: fc.Arbitrary<LabelSelector> = fc.record({
  matchLabels: fc.oneof(
    { weight: 2, arbitrary: fc.constant({}) },
    { weight: 1, arbitrary: fc.dictionary(key, value, { maxKeys: 2 }) },
  ),
  matchExpressions: fc.array(term, { maxLength: 2 }),
});

/** The selector as a query (`LabelSelectorAsSelector` of k8s.io/apimachinery). */
function queryOf({ matchLabels, matchExpressions }: LabelSelector): string {
  const terms = matchExpressions.map(({ key, operator, values }) => {
    switch (operator) {
      case "Exists":
        return key;
      case "DoesNotExist":
        return `!${key}`;
      default:
        return `${key} ${operator.toLowerCase()} (${values.join(",")})`;
    }
  });
  return [...Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`), ...terms].join();
}

/** Namespaces with labels and workloads that nothing but this test has made. */
interface Place extends AsyncDisposable {
  readonly connection: OpenKubeConnection;
  readonly namespaces: ReadonlyMap<string, Labels>;
  readonly workloads: readonly Workload[];
  /** UIDs of the workloads that the server finds by the selector, in all of these namespaces. */
  workloadsBy(selector: LabelSelector | undefined): Promise<ReadonlySet<string>>;
  /** Those of these namespaces that the server finds by the selector. */
  namespacesBy(selector: LabelSelector | undefined): Promise<ReadonlySet<string>>;
}

const MARK = "coallocator.test/scope";

async function openPlace(): Promise<Place> {
  await applyDefinitions(createKubectl());
  const connection = await connectKubeconfig();
  const run = crypto.randomUUID().slice(0, 8);
  const own = `${MARK}=${run}`;
  const items = async (path: string, labelSelector: string): Promise<readonly unknown[]> =>
    listOf(objectOf(await connection.request({ path, query: { labelSelector } })).items);
  const post = (path: string, body: unknown): Promise<unknown> =>
    connection.request({ method: "POST", path, body });
  const names = Array.from({ length: PLACES }, (_, index) => `scope-${run}-${index}`);
  const drawn = fc.sample(labels, PLACES * (WORKLOADS + 1));
  for (const name of names) {
    const marked = { ...drawn.pop(), [MARK]: run };
    await post("/api/v1/namespaces", { metadata: { name, labels: marked } });
    for (let index = 0; index < WORKLOADS; index++) {
      const kind = WORKLOAD_KINDS[index % WORKLOAD_KINDS.length] ?? "Deployment";
      const marked = { ...drawn.pop(), [MARK]: run };
      const pods = { app: `pods-${index}` };
      const nowhere = kind === "DaemonSet" ? { nodeSelector: { node: "none" } } : {};
      await post(workloadCollection(kind, name), {
        metadata: { name: `web-${index}`, labels: marked },
        spec: {
          ...(kind === "DaemonSet" ? {} : { replicas: 0 }),
          selector: { matchLabels: pods },
          template: {
            metadata: { labels: pods },
            spec: { ...nowhere, containers: [{ name: "app", image: "busybox:stable" }] },
          },
        },
      });
    }
  }
  const listed = async (selector: string): Promise<readonly Workload[]> =>
    (await Promise.all(
      WORKLOAD_KINDS.map(async (kind) =>
        (await items(workloadCollection(kind), selector)).map((raw) => parseWorkload(raw, kind))
      ),
    )).flat();
  const both = (selector: LabelSelector | undefined): string =>
    selector === undefined ? own : [own, queryOf(selector)].filter((one) => one !== "").join();
  const known = (await items("/api/v1/namespaces", own)).map(parseNamespace);
  return {
    connection,
    namespaces: new Map(known.map(({ metadata }) => [metadata.name, metadata.labels])),
    workloads: await listed(own),
    workloadsBy: async (selector) =>
      new Set((await listed(both(selector))).map(({ metadata }) => metadata.uid)),
    namespacesBy: async (selector) =>
      new Set(
        (await items("/api/v1/namespaces", both(selector)))
          .map((raw) => parseNamespace(raw).metadata.name),
      ),
    [Symbol.asyncDispose]: async () => {
      for (const name of names) {
        await connection.request({ method: "DELETE", path: `/api/v1/namespaces/${name}` });
      }
      connection.close();
    },
  };
}

/** A policy's selector as a user writes it. */
function writtenSelector(
  places: readonly string[],
): fc.Arbitrary<Partial<PolicySelector> & { readonly workloadTypes?: unknown }> {
  const names = fc.uniqueArray(fc.constantFrom(...places, "elsewhere"), { maxLength: 3 });
  const kinds = fc.subarray([...WORKLOAD_KINDS]);
  const all = fc.record({
    namespaceSelector: labelSelector,
    workloadSelector: labelSelector,
    namespaces: fc.record({ allow: names, deny: names }, { requiredKeys: [] }),
    workloadTypes: fc.record({ include: kinds, exclude: kinds }, { requiredKeys: [] }),
  }, { requiredKeys: [] });
  return all.filter(({ namespaceSelector, workloadSelector, namespaces }) =>
    (namespaceSelector ?? workloadSelector ?? namespaces) !== undefined
  ) as ReturnType<typeof writtenSelector>;
}

/** UIDs of the workloads in scope, by the server's answers and the rule. */
async function foundByServer(
  { namespaceSelector, workloadSelector, namespaces, workloadKinds }: PolicySelector,
  place: Place,
): Promise<readonly string[]> {
  const byLabels = await place.workloadsBy(workloadSelector);
  const inPlaces = await place.namespacesBy(namespaceSelector);
  const { allow = [], deny = [] } = namespaces ?? {};
  return place.workloads.filter(({ kind, metadata: { namespace, uid } }) =>
    workloadKinds.includes(kind) && byLabels.has(uid) && inPlaces.has(namespace) &&
    (allow.length === 0 || allow.includes(namespace)) && !deny.includes(namespace)
  ).map(({ metadata }) => metadata.uid).toSorted();
}

Deno.test("property 27: isInScope() finds by selectors of namespaces and workloads what the server finds by them, on a real API server", async () => {
  await using place = await openPlace();
  const names = [...place.namespaces.keys()];
  assert.equal(place.workloads.length, PLACES * WORKLOADS);
  const sizes = new Set<number>();
  const listed = fc.uniqueArray(fc.constantFrom(...names), { maxLength: 2 });
  const selectors: fc.Arbitrary<PolicySelector> = fc.record({
    namespaceSelector: labelSelector,
    workloadSelector: labelSelector,
    namespaces: fc.record({ allow: listed, deny: listed }),
    workloadKinds: fc.constant(WORKLOAD_KINDS),
  }, { requiredKeys: ["workloadKinds"] });
  await fc.assert(
    fc.asyncProperty(selectors, async (selector) => {
      const found = place.workloads.filter((workload) => {
        const namespaceLabels = place.namespaces.get(workload.metadata.namespace);
        return isInScope(workload, { selector, namespaceLabels });
      });
      assert.deepEqual(
        found.map(({ metadata }) => metadata.uid).toSorted(),
        await foundByServer(selector, place),
      );
      for (const { metadata: { namespace } } of found) {
        assert.equal(selector.namespaces?.deny.includes(namespace) ?? false, false);
      }
      sizes.add(found.length);
    }),
    CASES,
  );
  assert.ok(sizes.has(0) && sizes.size > 10, `${[...sizes]}`);
});

Deno.test("property 16: matchesWorkload() finds exactly what the server finds by the policy that it has taken, on a real API server", async () => {
  await using place = await openPlace();
  const names = [...place.namespaces.keys()];
  const [home = ""] = names;
  let discovered = 0;
  await fc.assert(
    fc.asyncProperty(
      writtenSelector(names),
      fc.boolean(),
      async (selector, isAdministrators) => {
        const stored = await place.connection.request({
          method: "POST",
          path: resourcePath({ ...POLICIES, namespace: home }),
          query: { dryRun: "All" },
          body: {
            apiVersion: "optipod.io/v1alpha1",
            kind: "OptimizationPolicy",
            metadata: { name: "drawn" },
            spec: { ...SAMPLE_POLICY_SPEC, selector },
          },
        });
        const { spec, faults } = readPolicySpec(objectOf(stored).spec);
        assert.ok(spec !== undefined, faults.map(faultText).join());
        const policy = { metadata: { namespace: home, name: "drawn" }, spec };
        const policyNamespaces = isAdministrators ? [home] : [];
        const found = place.workloads.filter((workload) =>
          matchesWorkload(policy, workload, { namespaces: place.namespaces, policyNamespaces })
        );
        const reached = new Set(
          place.workloads.filter(({ metadata: { namespace } }) =>
            isAdministrators || namespace === home
          ).map(({ metadata }) => metadata.uid),
        );
        const expected = await foundByServer(spec.selector, place);
        assert.deepEqual(
          found.map(({ metadata }) => metadata.uid).toSorted(),
          expected.filter((uid) => reached.has(uid)),
        );
        discovered += found.length;
      },
    ),
    CASES,
  );
  assert.ok(discovered > CASES.numRuns, `${discovered}`);
});
