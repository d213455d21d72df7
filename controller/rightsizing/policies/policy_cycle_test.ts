import assert from "node:assert/strict";
import { ApiError } from "../../../shared/api/api_error.ts";
import type { PolicyStatus } from "../../../shared/api/policy_status.ts";
import { createPermits } from "../../../shared/control/permits.ts";
import { silentLog } from "../../../shared/log.ts";
import type { RightsizedWorkload } from "../../../shared/rightsizing/guards/rightsizing_facts.ts";
import type { PolicySpec, StoredPolicy } from "../../../shared/rightsizing/policy_spec.ts";
import { createUsageAnswers } from "../../../lab/simulation/metric_answers.ts";
import { notedHands } from "../../../tests/fixtures/rightsizing/noted_hands.ts";
import {
  autoPolicy,
  MI,
  NOW_MS,
  rightsizingFacts,
} from "../../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import type { UsageAnswer, UsageQuestion } from "../ports.ts";
import { RecordStore } from "../store.ts";
import { type CycleParts, type CycleState, runPolicyCycle } from "./policy_cycle.ts";
import { writePolicyStatus } from "./report_cycle.ts";

function test(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, permissions: "none", fn });
}

const NEVER = new AbortController().signal;
const NO_USAGE: UsageAnswer = { problem: "unreachable", message: "refused" };

function policyOf(name: string, spec?: Partial<PolicySpec>): StoredPolicy {
  return {
    metadata: { name, namespace: "shop", uid: name, resourceVersion: "1", generation: 3 },
    ...(spec === undefined ? {} : { spec: autoPolicy({}, spec) }),
    faults: spec === undefined ? [{ field: "spec.weight", valid: "1 to 1000" }] : [],
    status: {},
  };
}

function workloadOf(name: string): RightsizedWorkload {
  const { workload } = rightsizingFacts();
  return { ...workload, metadata: { ...workload.metadata, name, uid: `uid-${name}` } };
}

function stateOf(policies: readonly StoredPolicy[], names: readonly string[]): CycleState {
  return {
    policies,
    workloads: names.map(workloadOf),
    dryRun: false,
    sampler: { intervalMs: 30_000, size: 16 },
    namespaces: new Map(),
    policyNamespaces: [],
  };
}

/** Parts with a source that answers by `answer`. */
function stage(answer: (question: UsageQuestion) => Promise<UsageAnswer>, workers = 10) {
  const asked: string[] = [];
  const facts = rightsizingFacts({ pods: [] });
  const parts: CycleParts = {
    sources: {
      of: () => ({
        usage(question) {
          asked.push(question.workload.name);
          return answer(question);
        },
      }),
    },
    records: new RecordStore({
      reports: [],
      clock: { monotonic: () => 0 },
      log: silentLog,
      store: {
        list: () => assert.fail("no flush"),
        apply: () => assert.fail("no flush"),
        remove: () => assert.fail("no flush"),
      },
    }),
    denials: new Map(),
    permits: createPermits(() => workers),
    outcomes: new Map(),
    underWay: new Map(),
    clock: { wall: () => NOW_MS },
    hands: notedHands(),
    cluster: {
      owns: () => () => true,
      podsIn: () => [],
      correctionsOf: () => new Map(),
      factsOf: (_one, known) => ({ ...facts, ...known }),
      whenSynced: () => Promise.resolve(true),
      keepOnly: () => {},
    },
  };
  const end = new AbortController();
  return { asked, parts, end, signal: end.signal };
}

test("runPolicyCycle() reconciles workloads that the policy wins, and records the winner of the others", async () => {
  const [light, heavy] = [policyOf("light", { weight: 1 }), policyOf("heavy", { weight: 9 })];
  const { asked, parts, signal } = stage(() => Promise.resolve(NO_USAGE));
  const state = stateOf([light, heavy], ["web", "db"]);
  const lost = await runPolicyCycle(light, state, { parts, signal });
  assert.deepEqual([asked, lost.reconciled.length], [[], 0]);
  assert.deepEqual(lost.matched.map(({ record }) => record.reason), ["Outweighed", "Outweighed"]);
  const won = await runPolicyCycle(heavy, state, { parts, signal });
  assert.deepEqual([asked, won.reconciled.length], [["web", "db"], 2]);
  assert.equal(won.problem?.reason, "ProviderUnavailable");
});

test("runPolicyCycle() records a workload that can't be read, and reconciles the others", async () => {
  const all = policyOf("all", {});
  const { asked, parts, signal } = stage(() => Promise.resolve(NO_USAGE));
  const { kind, metadata } = workloadOf("odd");
  const state = stateOf([all], ["web"]);
  const unreadableTemplate = "Cannot read a template: it has no containers";
  const workloads = [{ kind, metadata, unreadableTemplate }, ...state.workloads];
  const outcome = await runPolicyCycle(all, { ...state, workloads }, { parts, signal });
  assert.deepEqual(asked, ["web"]);
  assert.deepEqual(
    outcome.matched.map(({ record: { workload, status, reason } }) => [
      workload.name,
      status,
      reason,
    ]),
    [["odd", "Error", "UnreadableTemplate"], ["web", "Skipped", "ProviderUnavailable"]],
  );
  assert.equal(outcome.matched[0]?.record.message, unreadableTemplate);
  // The source is down for all that it was asked for.
  assert.equal(outcome.problem?.reason, "ProviderUnavailable");
  assert.equal(outcome.aborted, false);
});

test("runPolicyCycle() reconciles nothing for a policy that is disabled or can't be read", async () => {
  const { asked, parts, signal } = stage(() => Promise.resolve(NO_USAGE));
  for (const policy of [policyOf("off", { mode: "Disabled" }), policyOf("broken")]) {
    const outcome = await runPolicyCycle(policy, stateOf([policy], ["web"]), { parts, signal });
    assert.deepEqual([outcome.matched, asked], [[], []]);
    const reason = policy.spec === undefined ? "ValidationFailed" : undefined;
    assert.equal(outcome.problem?.reason, reason);
  }
});

test("runPolicyCycle() of some workloads has the last outcomes of the others", async () => {
  const all = policyOf("all", {});
  const { asked, parts, signal } = stage(() => Promise.resolve(NO_USAGE));
  await runPolicyCycle(all, stateOf([all], ["web", "db"]), { parts, signal });
  const only = new Set(["Deployment/shop/db"]);
  const state = { ...stateOf([all], ["web", "db", "new"]), only };
  const outcome = await runPolicyCycle(all, state, { parts, signal });
  assert.deepEqual(asked, ["web", "db", "db", "new"]);
  assert.equal(outcome.matched.length, 3);
  assert.equal(outcome.problem?.reason, "ProviderUnavailable");
  // An outcome under another policy does not count.
  const other = policyOf("other", { weight: 900 });
  await runPolicyCycle(other, { ...state, policies: [all, other], only: new Set() }, {
    parts,
    signal,
  });
  assert.equal(asked.length, 7);
});

test("runPolicyCycle() goes on with the others when one reconcile throws", async () => {
  const all = policyOf("all", {});
  const { parts, signal } = stage(({ workload }) =>
    workload.name === "web" ? Promise.reject(new TypeError("Cannot")) : Promise.resolve(NO_USAGE)
  );
  const { matched } = await runPolicyCycle(all, stateOf([all], ["web", "db"]), { parts, signal });
  assert.deepEqual(matched.map(({ record }) => record.reason), [
    "EvaluationFailed",
    "ProviderUnavailable",
  ]);
});

test("runPolicyCycle() reports a missing permission, and no other refusals", async () => {
  const source = createUsageAnswers();
  for (const name of ["web", "db"]) {
    const usage = source.of({ namespace: "shop", kind: "Deployment", name }, "app");
    for (let minute = 0; minute < 60; minute++) {
      usage.cpu.push([NOW_MS - minute * 60_000, 150]);
      usage.memory.push([NOW_MS - minute * 60_000, 80 * MI]);
    }
  }
  const { parts, signal } = stage((question) => source.usage(question, NEVER));
  const facts = rightsizingFacts({
    pods: [],
    strategy: { allowInPlaceResize: false, allowRecreate: true },
  });
  const hands = notedHands();
  const rbac = 'User "x" cannot patch resource "deployments" in API group "apps"';
  hands.refusals.set("recreate web", new ApiError(403, "Forbidden", rbac));
  hands.refusals.set("recreate db", new ApiError(403, "Forbidden", "denied by policy"));
  const refused: string[] = [];
  const all = policyOf("all", {});
  await runPolicyCycle(all, stateOf([all], ["web", "db"]), {
    parts: {
      ...parts,
      hands,
      cluster: {
        ...parts.cluster,
        factsOf: ({ workload }, known) => ({ ...facts, ...known, workload }),
      },
      lacksPermission: ({ metadata: { name } }, permission) =>
        void refused.push(`${name}: ${permission}`),
    },
    signal,
  });
  assert.equal(hands.asked.length, 2);
  assert.deepEqual(refused, ["web: patch deployments.apps"]);
});

test("runPolicyCycle() begins no reconcile once it is aborted, and says so", async () => {
  const all = policyOf("all", {});
  const { asked, parts, end, signal } = stage(() => {
    end.abort();
    return Promise.resolve(NO_USAGE);
  }, 1);
  const outcome = await runPolicyCycle(all, stateOf([all], ["web", "db"]), { parts, signal });
  assert.deepEqual([asked, outcome.reconciled, outcome.aborted], [["web"], [], true]);
  assert.equal(parts.outcomes.size, 0);
});

test("runPolicyCycle() never reconciles a workload twice at the same time", async () => {
  const [one, two] = [policyOf("one", {}), policyOf("two", {})];
  let running = 0;
  const { parts, signal, asked } = stage(async () => {
    running++;
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
    assert.equal(running, 1);
    running--;
    return NO_USAGE;
  });
  await Promise.all(
    [one, two].map((policy) =>
      runPolicyCycle(policy, stateOf([policy], ["web"]), { parts, signal })
    ),
  );
  assert.deepEqual([asked, parts.underWay.size], [["web", "web"], 0]);
});

test("writePolicyStatus() writes the outcome, but none of another generation or of an aborted cycle", async () => {
  const written: PolicyStatus[] = [];
  const statuses = {
    writeStatus(_policy: unknown, status: PolicyStatus): Promise<string> {
      written.push(status);
      return Promise.resolve("2");
    },
  };
  const all = policyOf("all", {});
  const outcome = { matched: [], reconciled: [], aborted: false };
  const parts = { statuses, nowMs: NOW_MS, dryRun: true, generation: 3 };
  await writePolicyStatus(all, { ...outcome, aborted: true }, parts);
  await writePolicyStatus(all, outcome, { ...parts, generation: 2 });
  assert.equal(written.length, 0);
  await writePolicyStatus(all, outcome, parts);
  assert.equal(written[0]?.workloadsDiscovered, 0);
  assert.equal(written[0]?.conditions?.find(({ type }) => type === "DryRun")?.status, "True");
  await writePolicyStatus(policyOf("off", { mode: "Disabled" }), outcome, parts);
  assert.equal(written[1]?.workloadsDiscovered, undefined);
});
