import assert from "node:assert/strict";
import type { PolicyStatus } from "../../../shared/api/policy_status.ts";
import { createPermits } from "../../../shared/control/permits.ts";
import { silentLog } from "../../../shared/log.ts";
import type { StoredPolicy } from "../../../shared/rightsizing/policy_spec.ts";
import { notedHands } from "../../../tests/fixtures/rightsizing/noted_hands.ts";
import {
  autoPolicy,
  NOW_MS,
  recommendation,
  rightsizingFacts,
} from "../../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import type { CycleOutcome } from "./policy_cycle.ts";
import { reportCycle, unwrittenRecord } from "./report_cycle.ts";

/** A workload that a policy matches. */
function matched(namespace: string) {
  const record = {
    workload: { kind: "Deployment", namespace, name: "web" },
    policy: { namespace: "shop", name: "all" },
    status: "Applied",
    recommendations: [],
    inForce: [],
  } as const;
  return { record, metricsMissing: false, difference: 0 };
}

Deno.test("unwrittenRecord() names a namespace of the policy's workloads, and no other", () => {
  const records = {
    unwritten: (namespace: string) => namespace === "bank" ? "forbidden" : undefined,
  };
  const both = { matched: [matched("shop"), matched("bank")] };
  const problem = unwrittenRecord(both, records);
  assert.equal(problem?.reason, "RecordNotWritten");
  assert.match(problem.message, / bank: forbidden$/);
  assert.equal(unwrittenRecord({ matched: [matched("shop")] }, records), undefined);
});

function test(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, permissions: "none", fn });
}

const POLICY: StoredPolicy = {
  metadata: { name: "all", namespace: "shop", uid: "p", resourceVersion: "1", generation: 1 },
  spec: autoPolicy(),
  faults: [],
  status: {},
};

const RECONCILED = {
  record: {
    workload: { kind: "Deployment", namespace: "shop", name: "web" },
    policy: { namespace: "shop", name: "all" },
    status: "Recommended",
    recommendedAtMs: NOW_MS,
    recommendations: [recommendation()],
    inForce: [],
  },
  metricsMissing: false,
  recommends: true,
  difference: 0,
  events: [],
} as const;

const OUTCOME: CycleOutcome = {
  matched: [RECONCILED],
  reconciled: [{ workload: rightsizingFacts().workload, outcome: RECONCILED }],
  aborted: false,
};

/** Reports of the cycle, in order. */
async function reported(
  { outcome = OUTCOME, present = POLICY, refuses = false, aborted = false }: {
    readonly outcome?: CycleOutcome;
    readonly present?: StoredPolicy | undefined;
    readonly refuses?: boolean;
    readonly aborted?: boolean;
  } = {},
): Promise<readonly string[]> {
  const hands = notedHands();
  const end = new AbortController();
  if (aborted) end.abort();
  const reporting = reportCycle(POLICY, {
    outcome,
    present: present === POLICY ? POLICY : present,
    statuses: {
      writeStatus(_policy: unknown, { conditions = [] }: PolicyStatus): Promise<string> {
        const ready = conditions.find(({ type }) => type === "Ready");
        hands.asked.push(`${ready?.reason}: ${ready?.message}`);
        return refuses ? Promise.reject(new TypeError("Cannot write")) : Promise.resolve("2");
      },
    },
    events: {
      emit: ({ about, reason, message }) =>
        void hands.asked.push(`${about.kind} ${reason}: ${message}`),
    },
    writer: hands.workloads,
    vpas: {
      publish: (_policy, { reconciled }) => {
        hands.asked.push(`publish ${reconciled.length}`);
        return Promise.resolve();
      },
    },
    permits: createPermits(() => 1),
    config: { dryRun: false, annotateWorkloads: true },
    clock: { wall: () => NOW_MS },
    log: silentLog,
    signal: end.signal,
  });
  if (refuses) await assert.rejects(reporting, TypeError);
  else await reporting;
  return hands.asked.map((line) => line.replace(/ \{.*/, "").replace(/^PolicyValid: .*/, VALID));
}

const VALID = "PolicyValid";

test("reportCycle() writes the status first, and reports of workloads even where it can't be written", async () => {
  assert.deepEqual(await reported(), [VALID, "publish 1", "annotate web"]);
  assert.deepEqual(await reported({ refuses: true }), [VALID, "publish 1", "annotate web"]);
  assert.deepEqual(await reported({ aborted: true }), [VALID]);
  const other = { ...POLICY, metadata: { ...POLICY.metadata, uid: "q" } };
  assert.deepEqual(await reported({ present: other }), ["publish 1", "annotate web"]);
});

test("reportCycle() reports a record that can't be written once in an event, and in each status", async () => {
  const unwritten = { reason: "RecordNotWritten", message: "forbidden" } as const;
  const outcome = { ...OUTCOME, unwritten };
  const [event, status] = await reported({ outcome });
  assert.match(event ?? "", /^OptimizationPolicy UpdateFailed: RecordNotWritten: forbidden; /);
  assert.equal(status, "RecordNotWritten: forbidden");
  const condition = {
    type: "Ready",
    status: "False",
    reason: "RecordNotWritten",
    message: "",
    lastTransitionTime: new Date(NOW_MS).toISOString(),
  } as const;
  const present = { ...POLICY, status: { conditions: [condition] } };
  assert.deepEqual((await reported({ outcome, present }))[0], "RecordNotWritten: forbidden");
});

test("reportCycle() reports a problem of the policy before that of its record", async () => {
  const unwritten = { reason: "RecordNotWritten", message: "forbidden" } as const;
  const problem = { reason: "ProviderUnavailable", message: "refused" } as const;
  const [, status] = await reported({ outcome: { ...OUTCOME, unwritten, problem } });
  assert.equal(status, "ProviderUnavailable: refused");
});
