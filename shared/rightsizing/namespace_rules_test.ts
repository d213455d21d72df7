import assert from "node:assert/strict";
import { sampleQuota } from "../../tests/contract/sample_objects.ts";
import { bareContainer } from "../../tests/fixtures/rightsizing_facts.ts";
import { namespaceRules } from "./namespace_rules.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const metadata = { name: "r", namespace: "shop", uid: "", resourceVersion: "" };
const range = { metadata, items: [{ type: "Pod", memory: { max: 5 } }] } as const;
const template = { containers: [bareContainer("app", { requestCPU: 1 })], initContainers: [] };
const counted = { pods: [], template };

test("namespaceRules() has ranges and rooms, and no ranges where nothing is said", () => {
  const rules = namespaceRules({ limitRanges: [range], quotas: [sampleQuota()] }, counted);
  assert.deepEqual(rules, {
    ranges: {
      memory: {
        container: { min: 0, max: Infinity, ratio: Infinity },
        pod: { min: 0, max: 5, ratio: Infinity },
      },
    },
    quotas: [{ name: "cpu", resource: "cpu", of: "limit", room: 300 }],
    unreadable: [],
  });
  assert.deepEqual(namespaceRules({ limitRanges: [], quotas: [] }, counted), {
    quotas: [],
    unreadable: [],
  });
});

test("namespaceRules() names each LimitRange that can't be read", () => {
  const unreadable = "its limits are negative";
  assert.deepEqual(
    namespaceRules({ limitRanges: [{ ...range, unreadable }, range], quotas: [] }, counted)
      .unreadable,
    [`LimitRange r: ${unreadable}`],
  );
});
