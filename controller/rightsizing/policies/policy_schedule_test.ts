import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import type { Workload } from "../../../shared/api/workload.ts";
import { seededRandom } from "../../../shared/random.ts";
import type { PolicySpec, StoredPolicy } from "../../../shared/rightsizing/policy_spec.ts";
import { createVirtualClock } from "../../../lab/simulation/virtual_clock.ts";
import { storedPolicy } from "../../../tests/fixtures/rightsizing/workload_records.ts";
import { templateContainer } from "../../../tests/fixtures/rightsizing/rightsizing_snapshot.ts";
import { sampleWorkload } from "../../../tests/fixtures/sample_workloads.ts";
import type { CycleOutcome } from "./policy_cycle.ts";
import { PolicySchedule } from "./policy_schedule.ts";

const INTERVAL_MS = 300_000;
const KEY = "shop/all";
const WEB = "Deployment/shop/web";
const { signal: NEVER } = new AbortController();

/** One Deployment, and policies that are changed by `put` and `remove`. */
function stage() {
  const clock = createVirtualClock({ wallStart: 0 });
  const all = new Map<string, StoredPolicy>();
  const workload = sampleWorkload({
    spec: {
      paused: false,
      replicas: 1,
      template: { containers: [templateContainer()], initContainers: [] },
    },
  });
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
  /** The Deployment's outcome. */
  const reconciled = (failure?: object): Pick<CycleOutcome, "reconciled"> => ({
    reconciled: [{
      workload,
      outcome: { failure } as CycleOutcome["reconciled"][number]["outcome"],
    }],
  });
  return {
    ...{ clock, schedule, workload, put, due, cycle, reconciled },
    remove: () => void all.delete(KEY),
  };
}

pure("policyChanged() queues a new generation and a deletion, and nothing else", async () => {
  const { schedule, put, remove, due } = stage();
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
  const { schedule, put, cycle } = stage();
  const policy = put("all", 1, {});
  schedule.policyChanged(KEY);
  assert.equal(cycle(policy).only, undefined);
  const running = schedule.begin(policy, NEVER);
  assert.deepEqual(running.only, new Set());
  put("all", 2, {});
  schedule.policyChanged(KEY);
  assert.equal(running.signal.aborted, true);
  schedule.end(running, { hasOutcome: true });
  assert.equal(cycle(policy).only, undefined);
  return Promise.resolve();
});

pure("queueAffected() queues policies of workloads that the policy had, or has", async () => {
  const { schedule, put, remove, due } = stage();
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
  const { clock, schedule, put, cycle } = stage();
  const policy = put("all", 1, {});
  schedule.policyChanged(KEY);
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
  const { schedule, put, cycle } = stage();
  const policy = put("all", 1, {});
  schedule.policyChanged(KEY);
  cycle(policy);
  put("all", 2, {});
  schedule.policyChanged(KEY);
  const failed = schedule.begin(policy, NEVER);
  schedule.end(failed, { hasOutcome: false });
  assert.equal(cycle(policy).only, undefined);
  assert.deepEqual(cycle(policy).only, []);
  return Promise.resolve();
});

pure("workloadChanged() queues the policy of a new workload once", async () => {
  const { schedule, workload, put, due, cycle, reconciled } = stage();
  const policy = put("all", 1, {});
  schedule.policyChanged(KEY);
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
  const { schedule, workload, put, cycle } = stage();
  const workloads = new Map([[WEB, workload]]);
  const policy = put("all", 1, {});
  schedule.policyChanged(KEY);
  cycle(policy);
  schedule.workloadChanged(workload);
  schedule.keepOnly(workloads);
  assert.deepEqual(cycle(policy).only, [WEB]);
  put("all", 2, { selector: { workloadKinds: [] } });
  schedule.keepOnly(workloads);
  assert.deepEqual(cycle(policy).only, []);
  return Promise.resolve();
});

pure("reconciled() retries what failed for a while, and backs off", () => {
  const { schedule, put, cycle, reconciled } = stage();
  const policy = put("all", 1, {});
  schedule.policyChanged(KEY);
  const retry = (failure?: object): number => cycle(policy, reconciled(failure)).retryMs;
  assert.equal(retry({ next: "leave" }), Infinity);
  assert.equal(retry({ next: "back-off", retryAfterMs: 1e6 }), 1e6);
  const [first, second] = [retry({ next: "back-off" }), retry({ next: "fresh" })];
  assert.ok(first < second && second < 60_000, `${first} ${second}`);
  assert.deepEqual(cycle(policy).only, [WEB]);
  assert.equal(retry(), Infinity);
  assert.ok(retry({ next: "back-off" }) <= first, "from the beginning");
  return Promise.resolve();
});
