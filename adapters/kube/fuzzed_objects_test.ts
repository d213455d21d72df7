/** Objects of the API that are not what they should be: each reader names what it can't read. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { cases } from "../../tests/fixtures/cases.ts";
import type { ApiObject } from "../../shared/control/list_watch.ts";
import { mutatedJSON } from "../../tests/fixtures/mutated_json.ts";
import { RAW_OBJECTS } from "../../tests/fixtures/raw_objects.ts";
import { parseAllocation } from "./allocations.ts";
import type { KubeConnection } from "./connection.ts";
import { parseHorizontalPodAutoscaler } from "./horizontal_pod_autoscalers.ts";
import { kubeListWatch } from "./kube_list_watch.ts";
import { parseLease } from "./leases.ts";
import { parseLimitRange } from "./limit_ranges.ts";
import { parseNamespace } from "./namespaces.ts";
import { parseNode } from "./nodes.ts";
import { parseOptimizationPolicy } from "./optimization_policies.ts";
import { parsePod } from "./pods.ts";
import { parseRecommendationReport } from "./recommendation_reports.ts";
import { parseResourceQuota } from "./resource_quotas.ts";
import { parseVerticalPodAutoscaler } from "./vertical_pod_autoscalers.ts";
import { parseWorkload } from "./workloads.ts";

const PARSERS: Readonly<Record<keyof typeof RAW_OBJECTS, (raw: unknown) => ApiObject>> = {
  Pod: parsePod,
  Node: parseNode,
  Namespace: parseNamespace,
  Deployment: (raw) => parseWorkload(raw, "Deployment"),
  StatefulSet: (raw) => parseWorkload(raw, "StatefulSet"),
  DaemonSet: (raw) => parseWorkload(raw, "DaemonSet"),
  HorizontalPodAutoscaler: parseHorizontalPodAutoscaler,
  VerticalPodAutoscaler: parseVerticalPodAutoscaler,
  LimitRange: parseLimitRange,
  ResourceQuota: parseResourceQuota,
  Lease: parseLease,
  PodAllocation: parseAllocation,
  OptimizationPolicy: parseOptimizationPolicy,
  RecommendationReport: parseRecommendationReport,
};

/** What a member may hold; all others are counts or millicores. */
const RANGES: Readonly<Record<string, readonly [least: number, most: number]>> = {
  priority: [-(2 ** 31), 2 ** 31 - 1],
  utilization: [0.01, (2 ** 31 - 1) / 100],
  ratio: [0, Number.MAX_SAFE_INTEGER],
  stabilizationMs: [0, 3_600_000],
  safetyFactor: [1, 10],
  limitMultipliers: [1, 10],
  ...Object.fromEntries(
    ["price", "demand", "need", "credit", "weight"].map((name) => [name, [0, Number.MAX_VALUE]]),
  ),
};
/** The times that a Date can hold, ms. */
const LAST_MS = 8.64e15;

/** Fails unless each number within is finite and in the range of its member. */
function assertInRange(value: unknown, name = "object"): void {
  if (typeof value === "number") {
    const [least, most] = RANGES[name] ??
      (name.endsWith("Ms") ? [-LAST_MS, LAST_MS] : [0, Number.MAX_SAFE_INTEGER]);
    assert.ok(value >= least && value <= most, `${name} is ${value}`);
    if (!(name in RANGES)) assert.ok(Number.isInteger(value), `${name} is ${value}`);
  } else if (typeof value === "object" && value !== null) {
    const same = Array.isArray(value) || name in RANGES;
    for (const [key, one] of Object.entries(value)) assertInRange(one, same ? name : key);
  }
}

function assertIdentity({ metadata }: ApiObject): void {
  for (const text of [metadata.name, metadata.uid, metadata.resourceVersion]) {
    assert.ok(typeof text === "string" && text !== "");
  }
}

/** What the parser made of it; undefined when it says what it can't read. */
function read(kind: keyof typeof RAW_OBJECTS, raw: unknown): ApiObject | undefined {
  try {
    return PARSERS[kind](raw);
  } catch (error) {
    assert.ok(
      error instanceof TypeError || error instanceof SyntaxError || error instanceof RangeError,
      String(error),
    );
    assert.match(error.message, /^Cannot (read|parse) [^\p{C}]{5,2000}$/u);
    return undefined;
  }
}

/** A connection whose lists and watches hold these objects. */
function serving(objects: readonly unknown[]): KubeConnection {
  return {
    request: () => Promise.resolve({ metadata: { resourceVersion: "9" }, items: objects }),
    async *lines() {
      for (const object of objects) yield await Promise.resolve({ type: "ADDED", object });
    },
  } as KubeConnection;
}

for (const kind of Object.keys(RAW_OBJECTS) as (keyof typeof RAW_OBJECTS)[]) {
  const sample: unknown = RAW_OBJECTS[kind];

  Deno.test({
    name: `the parser of ${kind} reads what is in range, or names what it can't read`,
    permissions: "none",
    fn() {
      assertInRange(PARSERS[kind](sample));
      let [readable, unreadable] = [0, 0];
      fc.assert(
        fc.property(mutatedJSON(sample), (raw) => {
          const before = JSON.stringify(raw);
          const object = read(kind, raw);
          assert.equal(JSON.stringify(raw), before);
          if (object === undefined) return void unreadable++;
          readable++;
          assertIdentity(object);
          assertInRange(object);
        }),
        cases(3),
      );
      // Each of the two is a sixth of the cases or more.
      const least = (readable + unreadable) / 12;
      assert.ok(readable > least && unreadable > least, `${readable} readable, ${unreadable} not`);
    },
  });

  Deno.test({
    name: `kubeListWatch() reads the others where one ${kind} can't be read`,
    permissions: "none",
    async fn() {
      const whole = PARSERS[kind](sample);
      const { signal } = new AbortController();
      await fc.assert(
        fc.asyncProperty(mutatedJSON(sample), async (raw) => {
          const source = kubeListWatch(serving([sample, raw, sample]), {
            path: "/objects",
            parse: PARSERS[kind],
          });
          const { items } = await source.list(signal);
          assert.ok(items.length === 2 || items.length === 3);
          assert.deepEqual([items[0], items.at(-1)], [whole, whole]);
          const seen: ApiObject[] = [];
          for await (const event of source.watch("9", signal)) {
            if (event.type !== "BOOKMARK") seen.push(event.object);
          }
          assert.deepEqual([seen[0], seen.at(-1)], [whole, whole]);
        }),
      );
    },
  });
}
