import assert from "node:assert/strict";
import { createPermits } from "../../../shared/control/permits.ts";
import { silentLog } from "../../../shared/log.ts";
import type { PolicySpec, StoredPolicy } from "../../../shared/rightsizing/policy_spec.ts";
import type { WorkloadRecord } from "../../../shared/rightsizing/workload_record.ts";
import { recordedAppliers } from "../../../tests/fixtures/rightsizing/recorded_appliers.ts";
import { autoPolicy, NOW_MS } from "../../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import { sampleWorkload } from "../../../tests/fixtures/sample_workloads.ts";
import { collectGarbage } from "./garbage_collection.ts";

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

interface Kept {
  readonly record: boolean;
  readonly vpa: boolean;
  /** What is done with its annotations. */
  readonly asked: readonly string[];
}

/** Collects garbage beside Deployment `web`. */
async function collect(
  policies: readonly StoredPolicy[],
  { isThere = true, annotateWorkloads = true, recommendedAtMs = 0 } = {},
): Promise<Kept> {
  let isKept: boolean | undefined;
  let keepsVPA: boolean | undefined;
  const appliers = recordedAppliers();
  // It has no template that can be read.
  const workload = sampleWorkload({ annotations: { "optipod.io/policy": "shop/all" } });
  await collectGarbage({
    workloads: new Map(isThere ? [["Deployment/shop/web", workload]] : []),
    policies,
    namespaces: new Map([["shop", {}]]),
    policyNamespaces: [],
    annotateWorkloads,
    nowMs: NOW_MS,
    records: {
      keepOnly: (keep) => void (isKept = keep({ ...record, recommendedAtMs })),
      flush: () => Promise.resolve(),
    },
    writer: appliers.workloads,
    vpas: { keepOnly: (keep) => Promise.resolve(void (keepsVPA = keep("Deployment/shop/web"))) },
    permits: createPermits(() => 1),
    log: silentLog,
  });
  return {
    record: isKept ?? assert.fail("not called"),
    vpa: keepsVPA ?? assert.fail("not called"),
    asked: appliers.asked,
  };
}

/** Whether the record is kept, and what is done with the annotations. */
async function kept(
  ...given: Parameters<typeof collect>
): Promise<readonly [boolean, readonly string[]]> {
  const { record, asked } = await collect(...given);
  return [record, asked];
}

const DELETED = ['annotate web {"optipod.io/policy":null}'];

test("collectGarbage() deletes records and annotations of workloads that no policy selects", async () => {
  assert.deepEqual(await kept([policyOf({})]), [true, []]);
  assert.deepEqual(await kept([]), [false, DELETED]);
  const elsewhere = policyOf({ selector: { workloadKinds: ["DaemonSet"] } });
  assert.deepEqual(await kept([elsewhere]), [false, DELETED]);
  assert.deepEqual(await kept([policyOf({})], { isThere: false }), [false, []]);
});

test("collectGarbage() keeps the record of a deleted workload for a while: it may come back under its name", async () => {
  const minutes = (ago: number, ...policies: readonly StoredPolicy[]) =>
    kept(policies, { isThere: false, recommendedAtMs: NOW_MS - ago * 60_000 });
  const slow = policyOf({ intervalMs: 3_600_000 });
  assert.deepEqual(await minutes(14, policyOf({})), [true, []]);
  assert.deepEqual(await minutes(15, policyOf({})), [false, []]);
  assert.deepEqual(await minutes(69, slow), [true, []]);
  assert.deepEqual(await minutes(1), [false, []]);
});

test("collectGarbage() keeps records of policies that are disabled or can't be read", async () => {
  assert.deepEqual(await kept([policyOf({ mode: "Disabled" })]), [true, []]);
  assert.deepEqual(await kept([policyOf()]), [true, []]);
  const other = { ...policyOf(), metadata: { ...policyOf().metadata, name: "other" } };
  assert.deepEqual(await kept([other]), [false, DELETED]);
});

test("collectGarbage() deletes annotations of a deleted policy, though another one selects the workload", async () => {
  const other = { ...policyOf({}), metadata: { ...policyOf().metadata, name: "other" } };
  assert.deepEqual(await kept([other]), [true, DELETED]);
});

test("collectGarbage() removes all annotations where no policy wants any", async () => {
  assert.deepEqual(await kept([policyOf({})], { annotateWorkloads: false }), [true, DELETED]);
});

test("collectGarbage() keeps the VPA while the winning policy publishes it", async () => {
  const { updateStrategy } = autoPolicy({ publishVPA: true });
  const publishing = policyOf({ updateStrategy });
  const keepsVPA = async (...given: Parameters<typeof collect>): Promise<boolean> =>
    (await collect(...given)).vpa;
  assert.equal(await keepsVPA([publishing]), true);
  assert.equal(await keepsVPA([publishing], { isThere: false }), false);
  assert.equal(await keepsVPA([]), false);
  assert.equal(await keepsVPA([policyOf({})]), false);
  // A policy that can't be read may publish it.
  assert.equal(await keepsVPA([policyOf()]), true);
  assert.equal(await keepsVPA([policyOf({ updateStrategy, mode: "Disabled" })]), false);
  const heavier = policyOf({ weight: 500 });
  const { metadata } = heavier;
  const other = { ...heavier, metadata: { ...metadata, name: "heavier" } };
  assert.equal(await keepsVPA([publishing, other]), false);
});
