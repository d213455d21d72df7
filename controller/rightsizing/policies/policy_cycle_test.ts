import assert from "node:assert/strict";
import { createVirtualClock } from "../../../lab/simulation/virtual_clock.ts";
import { ApiError } from "../../../shared/api/api_error.ts";
import type { Workload } from "../../../shared/api/workload.ts";
import { createPermits } from "../../../shared/control/permits.ts";
import { silentLog } from "../../../shared/log.ts";
import { seededRandom } from "../../../shared/random.ts";
import type { RightsizingSnapshot } from "../../../shared/rightsizing/guards/rightsizing_snapshot.ts";
import type { PolicySpec, StoredPolicy } from "../../../shared/rightsizing/policy_spec.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import { recordedAppliers } from "../../../tests/fixtures/rightsizing/recorded_ports.ts";
import {
  MI,
  NOW_MS,
  rightsizingSnapshot,
  templateContainer,
} from "../../../tests/fixtures/rightsizing/rightsizing_snapshot.ts";
import { createUsageAnswers } from "../../../tests/fixtures/rightsizing/usage_answers.ts";
import {
  storedPolicy,
  workloadNamed,
} from "../../../tests/fixtures/rightsizing/workload_records.ts";
import { sampleWorkload, workloadSpec } from "../../../tests/fixtures/sample_workloads.ts";
import type { ReconcileOutcome } from "../outcome.ts";
import type { UsageAnswer, UsageQuery } from "../ports.ts";
import { RecordStore } from "../store.ts";
import { type CycleOutcome, type CycleParts, PolicyCycles } from "./policy_cycle.ts";
import { PolicySchedule } from "./policy_schedule.ts";

const NEVER = new AbortController().signal;
const NO_USAGE: UsageAnswer = { problem: "unreachable", message: "refused" };

interface Cycle {
  readonly policies?: readonly StoredPolicy[];
  readonly names?: readonly string[];
  readonly more?: readonly Workload[];
  readonly only?: ReadonlySet<string>;
}

function clusterOf(snapshot: RightsizingSnapshot): CycleParts["cluster"] {
  return {
    podsOf: () => ({ pods: [], otherPods: [] }),
    correctionsOf: () => new Map(),
    snapshotOf: ({ workload }, known) => ({ ...snapshot, ...known, workload }),
  };
}

/** Cycles with a source that answers by `answer`. */
function stage(
  answer: (question: UsageQuery) => Promise<UsageAnswer> = () => Promise.resolve(NO_USAGE),
  { workers = 10, ...parts }: Partial<CycleParts> & { readonly workers?: number } = {},
) {
  const asked: string[] = [];
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
    cluster: clusterOf(rightsizingSnapshot({ pods: [] })),
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
          const { kind, metadata, rollout, ...spec } = workloadNamed(name);
          return { kind, metadata, rollout, spec };
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
  const more = [{ kind, metadata, rollout, unreadableTemplate: "no containers" }];
  const outcome = await run(ALL, { names: ["web"], more });
  assert.deepEqual(asked, ["web"]);
  assert.deepEqual(
    outcome.matched.map(({ workload, status, reason }) => [workload.name, status, reason]),
    [["odd", "Error", "UnreadableTemplate"], ["web", "Skipped", "ProviderUnavailable"]],
  );
  assert.equal(outcome.matched[0]?.message, "no containers");
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
  const appliers = recordedAppliers();
  const rbac = 'User "x" cannot patch resource "deployments" in API group "apps"';
  appliers.refusals.set("recreate web", new ApiError(403, "Forbidden", rbac));
  appliers.refusals.set("recreate db", new ApiError(403, "Forbidden", "denied by policy"));
  const refused: string[] = [];
  const { run } = stage((question) => source.usage(question, NEVER), {
    appliers,
    cluster: clusterOf(rightsizingSnapshot({ pods: [], strategy })),
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

const INTERVAL_MS = 300_000;
const KEY = "shop/all";
const WEB = "Deployment/shop/web";

/** One Deployment, and policies that are changed by `put` and `remove`. */
function scheduleStage() {
  const clock = createVirtualClock({ wallStart: 0 });
  const all = new Map<string, StoredPolicy>();
  const workload = sampleWorkload({ spec: workloadSpec([templateContainer()]) });
  const workloads = new Map<string, Workload>([[WEB, workload]]);
  const schedule = new PolicySchedule({
    policies: { get: (key) => all.get(key), all: () => [...all.values()] },
    workloads: () => workloads.values(),
    input: () => ({ namespaces: new Map([["shop", {}]]), policyNamespaces: [] }),
    clock,
    random: seededRandom(1),
  });
  function put(name: string, generation: number, spec?: Partial<PolicySpec>): StoredPolicy {
    const valid = spec === undefined ? null : { intervalMs: INTERVAL_MS, ...spec };
    const policy = storedPolicy(name, valid, { generation });
    all.set(`shop/${name}`, policy);
    return policy;
  }
  /** Keys that are due within this time, in order. */
  async function due(ms: number): Promise<readonly string[]> {
    const end = new AbortController();
    const keys: string[] = [];
    const taking = (async () => {
      for (;;) {
        const key = await schedule.queue.take(end.signal);
        if (key === undefined) return;
        keys.push(key);
        schedule.queue.done(key);
      }
    })();
    await clock.runUntil(clock.monotonic() + ms);
    end.abort();
    await taking;
    return keys;
  }
  /** Runs a cycle of a policy that ends as `outcome` says. */
  function cycle(policy: StoredPolicy, outcome: Partial<CycleOutcome> = {}) {
    const begun = schedule.begin(policy, NEVER);
    const whole = { matched: [], reconciled: [], aborted: false, ...outcome };
    const retryMs = schedule.reconciled(begun, whole);
    schedule.end(begun, { hasOutcome: true });
    return { only: begun.only && [...begun.only], retryMs };
  }
  const reconciled = (failure?: object): Pick<CycleOutcome, "reconciled"> => ({
    reconciled: [{ workload, outcome: { failure } as ReconcileOutcome }],
  });
  return {
    ...{ clock, schedule, workload, put, due, cycle, reconciled },
    remove: () => void all.delete(KEY),
  };
}

/** A stage with a policy that has been read. */
function begunStage() {
  const stage = scheduleStage();
  const policy = stage.put("all", 1, {});
  stage.schedule.policyChanged(KEY);
  return { ...stage, policy };
}

pure("policyChanged() queues a new generation and a deletion, and nothing else", async () => {
  const { schedule, put, remove, due } = scheduleStage();
  const first = put("all", 1, {});
  assert.deepEqual(schedule.policyChanged(KEY), [first]);
  const second = put("all", 2);
  assert.deepEqual(schedule.policyChanged(KEY), [first, second]);
  assert.equal(schedule.policyChanged(KEY), undefined);
  assert.deepEqual(await due(0), [KEY]);
  assert.equal(schedule.policyChanged(KEY), undefined);
  remove();
  assert.deepEqual(schedule.policyChanged(KEY), [second]);
  assert.deepEqual(await due(0), [KEY]);
});

pure("policyChanged() aborts the running cycle, and the next one is over all workloads", () => {
  const { policy, schedule, put, cycle } = begunStage();
  assert.equal(cycle(policy).only, undefined);
  const running = schedule.begin(policy, NEVER);
  assert.deepEqual(running.only, new Set());
  put("all", 2, {});
  schedule.policyChanged(KEY);
  assert.equal(running.signal.aborted, true);
  schedule.end(running, { hasOutcome: true });
  assert.equal(cycle(policy).only, undefined);
});

pure("queueAffected() queues policies of workloads that the policy had, or has", async () => {
  const { schedule, put, remove, due } = scheduleStage();
  const nothing = { selector: { workloadKinds: [] } };
  put("other", 1, {});
  put("elsewhere", 1, nothing);
  put("unreadable", 1);
  const affected = async (): Promise<readonly string[]> => {
    schedule.queueAffected(KEY, schedule.policyChanged(KEY) ?? assert.fail("it has changed"));
    return (await due(2000)).filter((key) => key !== KEY);
  };
  const rows = [
    [1, {}, ["shop/other"]],
    [2, nothing, ["shop/other"]],
    [3, nothing, []],
    [4, {}, ["shop/other"]],
  ] as const;
  for (const [generation, spec, expected] of rows) {
    put("all", generation, spec);
    assert.deepEqual(await affected(), expected, `generation ${generation}`);
  }
  remove();
  assert.deepEqual(await affected(), ["shop/other"]);
});

pure("reconciled() begins a cycle shortly before the interval ends", async () => {
  const { policy, clock, schedule, cycle } = begunStage();
  cycle(policy);
  const inMs = schedule.dueInMs(KEY);
  assert.ok(inMs >= 0.9 * INTERVAL_MS && inMs <= 0.95 * INTERVAL_MS, `${inMs}`);
  assert.deepEqual(cycle(policy).only, []);
  assert.equal(schedule.dueInMs(KEY), inMs);
  await clock.runUntil(inMs);
  assert.equal(cycle(policy, { aborted: true }).only, undefined);
  assert.equal(cycle(policy).only, undefined, "after an aborted cycle");
  assert.ok(schedule.dueInMs(KEY) > 0);
});

pure("end() repeats a cycle that has no outcome", () => {
  const { policy, schedule, cycle } = begunStage();
  const failed = schedule.begin(policy, NEVER);
  schedule.end(failed, { hasOutcome: false });
  assert.equal(cycle(policy).only, undefined);
  assert.deepEqual(cycle(policy).only, []);
});

pure("workloadChanged() queues the policy of a new workload once", async () => {
  const { policy, schedule, workload, due, cycle, reconciled } = begunStage();
  cycle(policy);
  await due(0);
  for (const one of [undefined, workload, workload]) schedule.workloadChanged(one);
  assert.deepEqual(await due(2000), [KEY]);
  assert.deepEqual(cycle(policy, reconciled()).only, [WEB]);
  assert.deepEqual(cycle(policy).only, [], "it is reconciled");
  const recreated = { ...workload, metadata: { ...workload.metadata, uid: "another" } };
  schedule.workloadChanged(recreated);
  assert.deepEqual(await due(2000), [KEY]);
  assert.deepEqual(cycle(policy, reconciled()).only, [WEB]);
  assert.deepEqual(cycle(policy).only, [WEB], "the outcome was of the deleted one");
  schedule.keepOnly(new Map());
  assert.deepEqual(cycle(policy).only, []);
  schedule.workloadChanged(recreated);
  assert.deepEqual(await due(2000), [KEY], "it is new again");
});

pure("keepOnly() deletes pending workloads that no policy selects", () => {
  const { policy, schedule, workload, put, cycle } = begunStage();
  const workloads = new Map([[WEB, workload]]);
  cycle(policy);
  schedule.workloadChanged(workload);
  schedule.keepOnly(workloads);
  assert.deepEqual(cycle(policy).only, [WEB]);
  put("all", 2, { selector: { workloadKinds: [] } });
  schedule.keepOnly(workloads);
  assert.deepEqual(cycle(policy).only, []);
});

pure("reconciled() retries what failed for a while, and backs off", () => {
  const { policy, cycle, reconciled } = begunStage();
  const retry = (failure?: object): number => cycle(policy, reconciled(failure)).retryMs;
  assert.equal(retry({ next: "leave" }), Infinity);
  assert.equal(retry({ next: "back-off", retryAfterMs: 1e6 }), 1e6);
  const [first, second] = [retry({ next: "back-off" }), retry({ next: "fresh" })];
  assert.ok(first < second && second < 60_000, `${first} ${second}`);
  assert.deepEqual(cycle(policy).only, [WEB]);
  assert.equal(retry(), Infinity);
  assert.ok(retry({ next: "back-off" }) <= first, "from the beginning");
});
