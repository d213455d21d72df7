/**
 * Numbered properties of write permissions: accounts with random rights, and the mode that writes to
 * no spec, on a real API server.
 *
 * @module
 */
import fc from "fast-check";
import assert from "node:assert/strict";
import { type AccessRule, isAllowed } from "../../adapters/kube/client/api_checks.ts";
import {
  type KubeConnection,
  type OpenKubeConnection,
  resourcePath,
} from "../../adapters/kube/client/connection.ts";
import {
  parseRecommendationReport,
  REPORTS,
} from "../../adapters/kube/kinds/optimization_policies.ts";
import { workloadPlural } from "../../adapters/kube/kinds/workloads.ts";
import { createReportStore } from "../../adapters/kube/writers/recommendation_writers.ts";
import { applyDecision } from "../../controller/rightsizing/apply_decision.ts";
import { writeAnnotations } from "../../controller/rightsizing/events.ts";
import { reconcileWorkload } from "../../controller/rightsizing/reconcile_workload.ts";
import { isOwnAnnotation } from "../../shared/rightsizing/workload_annotations.ts";
import type { WorkloadKind } from "../../shared/api/workload.ts";
import { createPermits } from "../../shared/control/permits.ts";
import { silentLog } from "../../shared/log.ts";
import { parseBytes, parseCPU } from "../../shared/quantity.ts";
import { decideRightsizing } from "../../shared/rightsizing/guards/decide_rightsizing.ts";
import {
  ownContainers,
  type RightsizingFacts,
} from "../../shared/rightsizing/guards/rightsizing_facts.ts";
import { WORKLOAD_KINDS } from "../../shared/rightsizing/policy_spec.ts";
import { recordsOf, reportParts } from "../../shared/rightsizing/reports.ts";
import { createUsageAnswers } from "../fixtures/rightsizing/usage_answers.ts";
import { anyFacts } from "../fixtures/rightsizing/rightsizing_arbitrary.ts";
import { createKubectl } from "./kubectl.ts";
import { applyDefinitions } from "./rendered_manifests.ts";
import { requestToken, tokenConnector } from "./scene/account_token.ts";
import { type ContractWorld, worldTest as property } from "./scene/contract_world.ts";
import {
  createRightsizedWorld,
  drawnLooks,
  rightsizingHands,
  WAYS,
  writtenAs,
} from "./scene/rightsized_world.ts";
import { until } from "./scene/until.ts";

const CASES = { numRuns: 100 } as const;
const MINUTE_MS = 60_000;

Deno.test.beforeAll(() => applyDefinitions(createKubectl()));

/** A right as instructed: `patch pods/resize` or `get deployments.apps`. */
type Right = string;

const RESIZE: Right = "patch pods/resize";
const rightTo = (verb: "get" | "patch", kind: WorkloadKind): Right =>
  `${verb} ${workloadPlural(kind)}.apps`;
const RIGHTS: readonly Right[] = [
  RESIZE,
  ...WORKLOAD_KINDS.flatMap((kind) => [rightTo("get", kind), rightTo("patch", kind)]),
];

interface Account {
  readonly rights: readonly Right[];
  readonly connection: OpenKubeConnection;
}

/** The right as RBAC has it. */
function ruleOf(right: Right): AccessRule {
  const [verb = "", what = ""] = right.split(" ");
  const [named = "", group = ""] = what.split(".");
  const [resource = "", subresource] = named.split("/");
  return { verb, group, resource, ...(subresource === undefined ? {} : { subresource }) };
}

/** What of these rights a write needs, in the order in which the server is asked. */
function neededFor(method: "InPlace" | "Recreate", kind: WorkloadKind): readonly Right[] {
  return method === "InPlace" ? [RESIZE] : [rightTo("get", kind), rightTo("patch", kind)];
}

/**
 * Accounts of the namespace with rights of some kinds and not others, once the server knows of them.
 */
async function openAccounts({ connection, namespace }: ContractWorld): Promise<Account[]> {
  const connect = await tokenConnector(createKubectl());
  const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`;
  const post = (path: string, body: unknown): Promise<unknown> =>
    connection.request({ method: "POST", path, body });
  const some = fc.sample(fc.subarray([...RIGHTS]), 8);
  const accounts: Account[] = [];
  for (const [index, rights] of [[], [...RIGHTS], ...some].entries()) {
    const name = `account-${index}`;
    const rules = rights.map((right) => {
      const { verb, group, resource, subresource } = ruleOf(right);
      const named = subresource === undefined ? resource : `${resource}/${subresource}`;
      return { apiGroups: [group], resources: [named], verbs: [verb] };
    });
    await post(`/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name } });
    await post(`${rbac}/roles`, { metadata: { name }, rules });
    await post(`${rbac}/rolebindings`, {
      metadata: { name },
      subjects: [{ kind: "ServiceAccount", name, namespace }],
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name },
    });
    const own = await connect(await requestToken(connection, { namespace, account: name }));
    accounts.push({ rights, connection: own });
  }
  for (const { rights, connection: own } of accounts) {
    for (const right of RIGHTS) {
      const rule = { ...ruleOf(right), namespace };
      await until(
        `${right} with ${rights.join()}`,
        async () => await isAllowed(own, rule) === rights.includes(right) || undefined,
        { timeoutMs: 10_000 },
      );
    }
  }
  return accounts;
}

/** The same, which reports each request. */
function watched(connection: KubeConnection, report: (method: string) => void): KubeConnection {
  return {
    request(request) {
      report(request.method ?? "GET");
      return connection.request(request);
    },
    lines: (request) => connection.lines(request),
  };
}

property(
  "property 28: after a 403 nothing is sent again, the object is untouched and the missing permission named, and others go on, on a real API server",
  async (contract) => {
    const { connection, namespace } = contract;
    const accounts = await openAccounts(contract);
    const world = createRightsizedWorld(connection, namespace);
    const outcomes = { allowed: 0, denied: 0 };
    const looks = fc.constantFrom(...Object.values(WAYS)).chain((way) => drawnLooks(way));
    try {
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom(...accounts),
          fc.tuple(looks, looks),
          async (account, both) => {
            for (const { as, looks: [first] } of both) {
              const { facts: made, stored: before } = await world.make(first, as);
              const decision = decideRightsizing(made);
              if (decision.outcome === "hold") continue;
              const sent: string[] = [];
              const appliers = rightsizingHands(
                watched(account.connection, (method) => void sent.push(method)),
              );
              const pods = new Map(made.pods.map((pod) => [pod.metadata.uid, pod]));
              const applied = await applyDecision(made, decision, { pods, appliers });
              const { stored: after } = await world.read(made);
              const needed = neededFor(decision.method, as.kind);
              const missing = needed.findIndex((right) => !account.rights.includes(right));
              const hasNothing = decision.method === "InPlace" && made.pods.length === 0;
              if (missing < 0 || hasNothing) {
                assert.equal(applied.failure, undefined, JSON.stringify(applied.failure));
                outcomes.allowed++;
                continue;
              }
              const permission = `${needed[missing]} in namespace ${namespace}`;
              const { next, reason, permission: named } = applied.failure ?? {};
              assert.deepEqual([next, reason, named], ["leave", "RBACError", permission]);
              assert.deepEqual(after, before);
              // As far as the rights go, and the refused request once.
              assert.equal(sent.length, missing + 1);
              outcomes.denied++;
            }
          },
        ),
        CASES,
      );
    } finally {
      for (const { connection: own } of accounts) own.close();
    }
    assert.ok(outcomes.allowed > 20 && outcomes.denied > 20, JSON.stringify(outcomes));
  },
);

/** What the containers use, all the time. */
const usage = fc.record({
  cpu: fc.integer({ min: 10, max: 900 }),
  memory: fc.integer({ min: 2 ** 24, max: 2 ** 29 }),
});

property(
  "property 8: Recommend leaves the template and the pods as they are, and each recommendation can be read, on a real API server",
  async ({ connection, namespace }) => {
    const world = createRightsizedWorld(connection, namespace);
    const store = createReportStore(connection);
    const recommending = anyFacts.map((facts): RightsizingFacts => ({
      ...facts,
      policy: { ...facts.policy, mode: "Recommend" },
    }));
    await fc.assert(
      fc.asyncProperty(recommending, writtenAs, usage, async (drawn, as, { cpu, memory }) => {
        const { facts, stored: before } = await world.make(drawn, as);
        const { workload, nowMs, policy: spec } = facts;
        const { kind, metadata: { name } } = workload;
        const source = createUsageAnswers();
        for (const container of ownContainers(workload)) {
          const reported = source.of({ namespace, kind, name }, container.name);
          for (let minute = 0; minute < 60; minute++) {
            reported.cpu.push([nowMs - minute * MINUTE_MS, cpu]);
            reported.memory.push([nowMs - minute * MINUTE_MS, memory]);
          }
        }
        const appliers = rightsizingHands(connection);
        const policy = { metadata: { namespace, name: "all" }, spec };
        const subject = { workload, policy, before: undefined, denial: undefined };
        const outcome = await reconcileWorkload(subject, {
          source,
          appliers,
          clock: { wall: () => nowMs },
          cluster: {
            podsOf: () => ({ own: facts.pods, others: [] }),
            correctionsOf: () => new Map(),
            factsOf: (_one, known) => ({ ...facts, ...known, dryRun: false }),
          },
        }, { signal: new AbortController().signal });
        const { record } = outcome ?? assert.fail("called off");
        assert.deepEqual([record.status, record.reason], ["Recommended", "RecommendOnly"]);
        const own = ownContainers(workload).map((container) => container.name);
        assert.deepEqual(record.recommendations.map(({ container }) => container), own);
        assert.deepEqual((await world.read(facts)).stored, before);

        // What is reported beside the workload, and on it, leaves it as it is but for our annotations.
        const [part] = reportParts([record]);
        await store.apply({ namespace, name: `other-${name}`, workloads: part?.workloads ?? [] });
        const path = resourcePath({ ...REPORTS, namespace, name: `other-${name}` });
        const report = parseRecommendationReport(await connection.request({ path }));
        assert.deepEqual(recordsOf([report], namespace), [record]);
        const reporting = {
          workloads: appliers.workloads,
          log: silentLog,
          permits: createPermits(() => 1),
        };
        await writeAnnotations([{ workload, record }], reporting);
        const reported = await world.read(facts);
        const { annotations } = reported.facts.workload.metadata;
        assert.ok(Object.keys(annotations).every(isOwnAnnotation));
        for (const one of record.recommendations) {
          const of = (value: string): string =>
            annotations[`optipod.io/recommendation.${one.container}.${value}`] ?? "";
          assert.equal(parseCPU(of("cpu-request")), one.cpu);
          assert.equal(parseBytes(of("memory-request")), one.memory);
        }
        const [first, ...pods] = reported.stored;
        assert.deepEqual([first?.spec, ...pods], [before[0]?.spec, ...before.slice(1)]);
        await writeAnnotations(
          [{ workload: reported.facts.workload, record: undefined }],
          reporting,
        );
        assert.deepEqual((await world.read(facts)).stored, before);
      }),
      CASES,
    );
  },
);
