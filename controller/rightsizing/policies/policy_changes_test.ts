import assert from "node:assert/strict";
import type { PolicySpec, StoredPolicy } from "../../../shared/rightsizing/policy_spec.ts";
import { autoPolicy } from "../../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import { sampleWorkload } from "../../../tests/fixtures/sample_workloads.ts";
import { trackPolicyChanges } from "./policy_changes.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

/** One Deployment, and policies that are changed by `put` and `remove`. */
function stage() {
  const all = new Map<string, StoredPolicy>();
  const news = trackPolicyChanges({
    policies: { get: (key) => all.get(key), all: () => [...all.values()] },
    workloads: () => [sampleWorkload()],
    input: () => ({ namespaces: new Map([["shop", {}]]), policyNamespaces: [] }),
  });
  function put(name: string, generation: number, spec?: Partial<PolicySpec>): void {
    const metadata = { namespace: "shop", name, uid: name, resourceVersion: "", generation };
    all.set(`shop/${name}`, {
      metadata,
      ...(spec === undefined ? {} : { spec: autoPolicy({}, spec) }),
      faults: [],
      status: {},
    });
  }
  return { news, put, remove: (name: string) => void all.delete(`shop/${name}`) };
}

test("hasChanged() finds a new generation and a deletion, and nothing else", () => {
  const { news, put, remove } = stage();
  put("all", 1, {});
  assert.deepEqual([news.hasChanged("shop/all"), news.hasChanged("shop/all")], [true, false]);
  put("all", 2);
  assert.deepEqual([news.hasChanged("shop/all"), news.hasChanged("shop/all")], [true, false]);
  remove("all");
  assert.equal(news.hasChanged("shop/all"), true);
});

test("affected() are those of the workloads that the policy had, or has", () => {
  const { news, put, remove } = stage();
  const nothing = { selector: { workloadKinds: [] } };
  put("other", 1, {});
  put("elsewhere", 1, nothing);
  put("unreadable", 1);
  const beside = (): readonly string[] => {
    assert.ok(news.hasChanged("shop/all"));
    return news.affected("shop/all");
  };
  put("all", 1, {});
  assert.deepEqual(beside(), ["shop/other"]);
  put("all", 2, nothing);
  assert.deepEqual(beside(), ["shop/other"]);
  put("all", 3, nothing);
  assert.deepEqual(beside(), []);
  put("all", 4, {});
  assert.deepEqual(beside(), ["shop/other"]);
  remove("all");
  assert.deepEqual(beside(), ["shop/other"]);
  assert.deepEqual(news.affected("shop/all"), []);
});
