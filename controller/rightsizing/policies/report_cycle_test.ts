import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import type { Condition } from "../../../shared/api/object.ts";
import type { PolicyStatus } from "../../../shared/api/policy_status.ts";
import { createPermits } from "../../../shared/control/permits.ts";
import { silentLog } from "../../../shared/log.ts";
import { reconciledAs, storedPolicy } from "../../../tests/fixtures/rightsizing_outcomes.ts";
import { recordedAppliers } from "../../../tests/fixtures/rightsizing/recorded_appliers.ts";
import { NOW_MS } from "../../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import type { CycleOutcome } from "./policy_cycle.ts";
import { reportCycle, unwrittenRecord } from "./report_cycle.ts";

pure("unwrittenRecord() names a namespace of the policy's workloads, and no other", () => {
  const unwritten = (namespace: string) => namespace === "bank" ? "forbidden" : undefined;
  const matchedIn = (...namespaces: readonly string[]) => ({
    matched: namespaces.map((namespace) =>
      reconciledAs("web", { record: { workload: { kind: "Deployment", namespace, name: "web" } } })
        .outcome
    ),
  });
  const problem = unwrittenRecord(matchedIn("shop", "bank"), { unwritten });
  assert.equal(problem?.reason, "RecordNotWritten");
  assert.match(problem.message, / bank: forbidden$/);
  assert.equal(unwrittenRecord(matchedIn("shop"), { unwritten }), undefined);
});

const POLICY = storedPolicy();
const RECONCILED = reconciledAs("web");
const OUTCOME: CycleOutcome = {
  matched: [RECONCILED.outcome],
  reconciled: [RECONCILED],
  aborted: false,
};

/** Reports of the cycle, in order, each by its beginning. */
async function reported(
  { outcome, policy = POLICY, present = policy, refuses = false, aborted = false }: {
    readonly outcome?: Partial<CycleOutcome>;
    readonly policy?: typeof POLICY;
    readonly present?: typeof POLICY | undefined;
    readonly refuses?: boolean;
    readonly aborted?: boolean;
  } = {},
): Promise<readonly string[]> {
  const { asked, workloads: writer } = recordedAppliers();
  const reporting = reportCycle(policy, {
    outcome: { ...OUTCOME, ...outcome },
    present,
    statuses: {
      writeStatus(_policy: unknown, { conditions = [], workloads }: PolicyStatus) {
        const { reason = "", message = "" } = conditions.find(({ type }) => type === "Ready") ?? {};
        asked.push(`${workloads?.length ?? "no"} workloads, ${reason}: ${message}`);
        return refuses ? Promise.reject(new TypeError("Cannot write")) : Promise.resolve("2");
      },
    },
    events: {
      emit: ({ about, reason, message }) => void asked.push(`${about.kind} ${reason}: ${message}`),
    },
    writer,
    vpas: {
      publish: (_policy, { reconciled }) =>
        Promise.resolve(void asked.push(`publish ${reconciled.length}`)),
    },
    permits: createPermits(() => 1),
    config: {
      dryRun: false,
      annotateWorkloads: true,
      policyNamespaces: [],
      sampler: { intervalMs: 30_000, size: 16 },
    },
    clock: { wall: () => NOW_MS },
    log: silentLog,
    signal: aborted ? AbortSignal.abort() : new AbortController().signal,
  });
  if (refuses) await assert.rejects(reporting, TypeError);
  else await reporting;
  return asked.map((line) => line.replace(/ \{.*|: each field of the policy is valid$/, ""));
}

const VALID = "1 workloads, PolicyValid";
const REST = ["publish 1", "annotate web"];

pure("reportCycle() writes the status first, and reports in any case", async () => {
  assert.deepEqual(await reported(), [VALID, ...REST]);
  assert.deepEqual(await reported({ refuses: true }), [VALID, ...REST]);
  assert.deepEqual(await reported({ aborted: true }), [VALID]);
});

pure("reportCycle() writes no status of an aborted or outdated cycle", async () => {
  assert.deepEqual(await reported({ outcome: { aborted: true } }), REST);
  for (const change of [{ uid: "q" }, { generation: 2 }]) {
    assert.deepEqual(await reported({ present: storedPolicy("all", {}, change) }), REST);
  }
  assert.deepEqual(await reported({ policy: storedPolicy("all", { mode: "Disabled" }) }), [
    "no workloads, PolicyValid",
    ...REST,
  ]);
});

/** The policy with these conditions in its status. */
function withCondition(policy: typeof POLICY, reason: Condition["reason"], message: string) {
  const lastTransitionTime = new Date(NOW_MS).toISOString();
  const condition = {
    type: "Ready",
    status: "False",
    reason,
    message,
    lastTransitionTime,
  } as const;
  return { ...policy, status: { conditions: [condition] } };
}

pure("reportCycle() reports an unwritable record in one event, and each status", async () => {
  const outcome = { unwritten: { reason: "RecordNotWritten", message: "forbidden" } as const };
  const [event, status] = await reported({ outcome });
  assert.match(event ?? "", /^OptimizationPolicy UpdateFailed: RecordNotWritten: forbidden; /);
  assert.equal(status, "1 workloads, RecordNotWritten: forbidden");
  const present = withCondition(POLICY, "RecordNotWritten", "");
  assert.deepEqual(await reported({ outcome, present }), [status, ...REST]);
  // A problem of the policy comes before that of its record.
  const problem = { reason: "ProviderUnavailable", message: "refused" } as const;
  const [, other] = await reported({ outcome: { ...outcome, problem } });
  assert.equal(other, "1 workloads, ProviderUnavailable: refused");
});

pure("reportCycle() reports a window with too few samples in one event", async () => {
  const policy = storedPolicy("all", { provider: "metrics-server", windowMs: 300_000 });
  const [event = "", status] = await reported({ policy });
  assert.match(event, /^OptimizationPolicy MetricsCollectionFailed: InsufficientSamples: /);
  assert.match(status ?? "", /^1 workloads, PolicyValid: .* minSamples/);
  const [, lack = ""] = /InsufficientSamples: (.*?); /.exec(event) ?? [];
  const present = withCondition(policy, "PolicyValid", `valid; ${lack}`);
  assert.equal((await reported({ policy, present }))[0], status);
  const namespaces = { allow: ["elsewhere"], deny: [] };
  const reaching = storedPolicy("all", { selector: { namespaces, workloadKinds: ["Deployment"] } });
  assert.match((await reported({ policy: reaching }))[0] ?? "", /PolicyValid: .*elsewhere/);
});
