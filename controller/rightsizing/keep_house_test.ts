import assert from "node:assert/strict";
import { createPermits } from "../../shared/control/permits.ts";
import { silentLog } from "../../shared/log.ts";
import type { PolicySpec } from "../../shared/rightsizing/policy_spec.ts";
import type { StoredPolicy } from "../../shared/rightsizing/stored_policy.ts";
import type { WorkloadRecord } from "../../shared/rightsizing/workload_record.ts";
import { notedHands } from "../../tests/fixtures/noted_hands.ts";
import { autoPolicy } from "../../tests/fixtures/rightsizing_facts.ts";
import { sampleWorkload } from "../../tests/fixtures/sample_workloads.ts";
import { keepHouse } from "./keep_house.ts";

function test(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, permissions: "none", fn });
}

function policyOf(spec?: Partial<PolicySpec>): StoredPolicy {
  return {
    metadata: { name: "all", namespace: "shop", uid: "p", resourceVersion: "1", generation: 1 },
    ...(spec === undefined ? {} : { spec: autoPolicy({}, spec) }),
    faults: [],
    status: {},
  };
}

const record: WorkloadRecord = {
  workload: { kind: "Deployment", namespace: "shop", name: "web" },
  policy: { namespace: "shop", name: "all" },
  status: "Applied",
  recommendations: [],
  inForce: [],
};

/** Whether the record of Deployment `web` is kept, and what is done with its annotations. */
async function kept(
  policies: readonly StoredPolicy[],
  { isThere = true, annotateWorkloads = true } = {},
): Promise<readonly [boolean, readonly string[]]> {
  let isKept: boolean | undefined;
  const hands = notedHands();
  // One whose template can't be read.
  const workload = sampleWorkload({ annotations: { "optipod.io/policy": "shop/all" } });
  await keepHouse({
    workloads: new Map(isThere ? [["Deployment/shop/web", workload]] : []),
    policies,
    namespaces: new Map([["shop", {}]]),
    policyNamespaces: [],
    annotateWorkloads,
    book: {
      keepOnly: (keep) => void (isKept = keep(record)),
      flush: () => Promise.resolve(),
    },
    writer: hands.workloads,
    permits: createPermits(() => 1),
    log: silentLog,
  });
  return [isKept ?? assert.fail("nobody asked"), hands.asked];
}

const TAKEN_AWAY = ['annotate web {"optipod.io/policy":null}'];

test("keepHouse() forgets what no policy is for, and takes its words away", async () => {
  assert.deepEqual(await kept([policyOf({})]), [true, []]);
  assert.deepEqual(await kept([]), [false, TAKEN_AWAY]);
  const elsewhere = policyOf({ selector: { workloadKinds: ["DaemonSet"] } });
  assert.deepEqual(await kept([elsewhere]), [false, TAKEN_AWAY]);
  assert.deepEqual(await kept([policyOf({})], { isThere: false }), [false, []]);
});

test("keepHouse() lets policies that are disabled or can't be read keep what they know", async () => {
  assert.deepEqual(await kept([policyOf({ mode: "Disabled" })]), [true, []]);
  assert.deepEqual(await kept([policyOf()]), [true, []]);
  const other = { ...policyOf(), metadata: { ...policyOf().metadata, name: "other" } };
  assert.deepEqual(await kept([other]), [false, TAKEN_AWAY]);
});

test("keepHouse() takes the words of a policy that is gone away, though another one has the workload", async () => {
  const other = { ...policyOf({}), metadata: { ...policyOf().metadata, name: "other" } };
  assert.deepEqual(await kept([other]), [true, TAKEN_AWAY]);
});

test("keepHouse() takes all annotations away where nobody wants any", async () => {
  assert.deepEqual(await kept([policyOf({})], { annotateWorkloads: false }), [true, TAKEN_AWAY]);
});
