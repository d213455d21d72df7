import {
  MI,
  NOW_MS,
  rightsizingSnapshot,
} from "../../../tests/fixtures/rightsizing/rightsizing_snapshot.ts";
import { recordedAppliers } from "../../../tests/fixtures/rightsizing/recorded_ports.ts";
import assert from "node:assert/strict";
import { CONTROLLER_SETTINGS } from "../../settings.ts";
import { ApiError } from "../../../shared/api/api_error.ts";
import type { Condition } from "../../../shared/api/object.ts";
import type { PolicyStatus } from "../../../shared/api/policy_status.ts";
import type { Workload } from "../../../shared/api/workload.ts";
import { createPermits } from "../../../shared/control/permits.ts";
import { silentLog } from "../../../shared/log.ts";
import type { StoredPolicy } from "../../../shared/rightsizing/policy_spec.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import { createUsageAnswers } from "../../../tests/fixtures/rightsizing/usage_answers.ts";
import {
  reconciledAs,
  storedPolicy,
  workloadNamed,
} from "../../../tests/fixtures/rightsizing/workload_records.ts";
import type { UsageAnswer, UsageQuery } from "../ports.ts";
import { RecordStore } from "../store.ts";
import { type CycleOutcome, type CycleParts, PolicyCycles } from "./policy_cycle.ts";
import { reportCycle, unwrittenRecord } from "./report_cycle.ts";

const NEVER = new AbortController().signal;
const NO_USAGE: UsageAnswer = { problem: "unreachable", message: "refused" };

interface Cycle {
  readonly policies?: readonly StoredPolicy[];
  readonly names?: readonly string[];
  readonly more?: readonly Workload[];
  readonly only?: ReadonlySet<string>;
}

/** Cycles with a source that answers by `answer`. */
function stage(
  answer: (question: UsageQuery) => Promise<UsageAnswer> = () => Promise.resolve(NO_USAGE),
  { workers = 10, ...parts }: Partial<CycleParts> & { readonly workers?: number } = {},
) {
  const asked: string[] = [];
  const snapshot = rightsizingSnapshot({ pods: [] });
  const refuse = () => assert.fail("no flush");
  const records = new RecordStore({
    reports: [],
    clock: { monotonic: () => 0 },
    log: silentLog,
    store: { list: refuse, apply: refuse, remove: refuse },
    signal: NEVER,
  });
  const cycles = new PolicyCycles({
    sources: {
      sourceFor: () => ({
        usage(question) {
          asked.push(question.workload.name);
          return answer(question);
        },
      }),
    },
    records,
    permits: createPermits(() => workers),
    clock: { wall: () => NOW_MS },
    appliers: recordedAppliers(),
    cluster: {
      podsOf: () => ({ pods: [], otherPods: [] }),
      correctionsOf: () => new Map(),
      snapshotOf: ({ workload }, known) => ({ ...snapshot, ...known, workload }),
    },
    ...parts,
  });
  const end = new AbortController();
  const run = (
    policy: StoredPolicy,
    { policies = [policy], names = ["web", "db"], more = [], only }: Cycle = {},
  ): Promise<CycleOutcome> =>
    cycles.run(policy, {
      policies,
      workloads: [
        ...more,
        ...names.map((name) => {
          const { kind, metadata, rollout, ...makes } = workloadNamed(name);
          return { kind, metadata, rollout, makes };
        }),
      ],
      namespaces: new Map(),
      policyNamespaces: [],
      only,
      signal: end.signal,
    });
  return { asked, records, run, end };
}

const ALL = storedPolicy();
const reasonsOf = ({ matched }: CycleOutcome) => matched.map(({ reason }) => reason);

pure("run() reconciles the workloads that the policy wins", async () => {
  const policies = [storedPolicy("light", { weight: 1 }), storedPolicy("heavy", { weight: 9 })];
  const [light = ALL, heavy = ALL] = policies;
  const { asked, run } = stage();
  const lost = await run(light, { policies });
  assert.deepEqual([asked, lost.reconciled.length], [[], 0]);
  assert.deepEqual(reasonsOf(lost), ["Outweighed", "Outweighed"]);
  const won = await run(heavy, { policies });
  assert.deepEqual([asked, won.reconciled.length], [["web", "db"], 2]);
  assert.equal(won.problem?.reason, "ProviderUnavailable");
  // A policy that is deleted meanwhile has none.
  assert.deepEqual((await run(heavy, { policies: [light] })).matched, []);
});

pure("run() records a workload that can't be read, and reconciles the others", async () => {
  const { asked, run } = stage();
  const { kind, metadata, rollout } = workloadNamed("odd");
  const unreadableTemplate = "Cannot read a template: it has no containers";
  const more = [{ kind, metadata, rollout, unreadableTemplate }];
  const outcome = await run(ALL, { names: ["web"], more });
  assert.deepEqual(asked, ["web"]);
  assert.deepEqual(
    outcome.matched.map(({ workload, status, reason }) => [
      ...[workload.name, status, reason],
    ]),
    [["odd", "Error", "UnreadableTemplate"], ["web", "Skipped", "ProviderUnavailable"]],
  );
  assert.equal(outcome.matched[0]?.message, unreadableTemplate);
  // The source is down for all that it was asked for.
  assert.equal(outcome.problem?.reason, "ProviderUnavailable");
  assert.equal(outcome.aborted, false);
});

pure("run() reconciles nothing for a policy that is disabled or can't be read", async () => {
  const { asked, run } = stage();
  const rows = [
    [storedPolicy("off", { mode: "Disabled" }), undefined],
    [storedPolicy("broken", null), "ValidationFailed"],
  ] as const;
  for (const [policy, reason] of rows) {
    const outcome = await run(policy);
    assert.deepEqual([outcome.matched, asked, outcome.problem?.reason], [[], [], reason]);
  }
});

pure("run() of some workloads has the last records of the others", async () => {
  const { asked, run, records } = stage();
  await run(ALL);
  const some = { names: ["web", "db", "new"], only: new Set(["Deployment/shop/db"]) };
  const outcome = await run(ALL, some);
  assert.deepEqual(asked, ["web", "db", "db", "new"]);
  assert.equal(outcome.matched.length, 3);
  assert.equal(outcome.problem?.reason, "ProviderUnavailable");
  // A record under another policy does not count.
  const other = storedPolicy("other", { weight: 900 });
  await run(other, { ...some, policies: [ALL, other], only: new Set() });
  assert.equal(asked.length, 7);
  records.keepOnly(({ workload }) => workload.name !== "web");
  await run(other, { ...some, only: new Set() });
  assert.deepEqual(asked.slice(7), ["web"]);
});

pure("run() goes on with the others when one reconcile throws", async () => {
  const { run } = stage(({ workload }) =>
    workload.name === "web" ? Promise.reject(new TypeError("Cannot")) : Promise.resolve(NO_USAGE)
  );
  const outcome = await run(ALL);
  assert.deepEqual(reasonsOf(outcome), ["EvaluationFailed", "ProviderUnavailable"]);
  assert.equal(outcome.problem, undefined);
});

pure("run() reports a missing permission, and no other refusals", async () => {
  const source = createUsageAnswers();
  for (const name of ["web", "db"]) {
    const usage = source.of({ namespace: "shop", kind: "Deployment", name }, "app");
    for (let minute = 0; minute < 60; minute++) {
      usage.cpu.push([NOW_MS - minute * 60_000, 150]);
      usage.memory.push([NOW_MS - minute * 60_000, 80 * MI]);
    }
  }
  const strategy = { allowInPlaceResize: false, allowRecreate: true };
  const snapshot = rightsizingSnapshot({ pods: [], strategy });
  const appliers = recordedAppliers();
  const rbac = 'User "x" cannot patch resource "deployments" in API group "apps"';
  appliers.refusals.set("recreate web", new ApiError(403, "Forbidden", rbac));
  appliers.refusals.set("recreate db", new ApiError(403, "Forbidden", "denied by policy"));
  const refused: string[] = [];
  const { run } = stage((question) => source.usage(question, NEVER), {
    appliers,
    cluster: {
      podsOf: () => ({ pods: [], otherPods: [] }),
      correctionsOf: () => new Map(),
      snapshotOf: ({ workload }, known) => ({ ...snapshot, ...known, workload }),
    },
    lacksPermission: ({ metadata }, permission) =>
      void refused.push(`${metadata.name}: ${permission}`),
  });
  await run(ALL);
  assert.equal(appliers.asked.length, 2);
  assert.deepEqual(refused, ["web: patch deployments.apps"]);
});

pure("run() begins no reconcile once it is aborted, and says so", async () => {
  const { asked, run, end } = stage(() => {
    end.abort();
    return Promise.resolve(NO_USAGE);
  }, { workers: 1 });
  const outcome = await run(ALL);
  assert.deepEqual([asked, outcome.reconciled, outcome.aborted], [["web"], [], true]);
});

pure("run() never reconciles a workload twice at the same time", async () => {
  let running = 0;
  const { run, asked } = stage(async () => {
    running++;
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
    assert.equal(running, 1);
    running--;
    return NO_USAGE;
  });
  await Promise.all(["one", "two"].map((name) => run(storedPolicy(name), { names: ["web"] })));
  assert.deepEqual(asked, ["web", "web"]);
});

pure("unwrittenRecord() names a namespace of the policy's workloads, and no other", () => {
  const unwritten = (namespace: string) => namespace === "bank" ? "forbidden" : undefined;
  const matchedIn = (...namespaces: readonly string[]) => ({
    matched: namespaces.map((namespace) =>
      reconciledAs("web", { record: { workload: { kind: "Deployment", namespace, name: "web" } } })
        .outcome.record
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
  matched: [RECONCILED.outcome.record],
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
    settings: () => ({ ...CONTROLLER_SETTINGS.parse({}), annotateWorkloads: true }),
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
