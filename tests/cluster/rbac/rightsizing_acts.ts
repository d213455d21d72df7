/**
 * What the controller does with each right that the component rightsizing adds.
 *
 * @module
 */
import assert from "node:assert/strict";
import { type KubeConnection, resourcePath } from "../../../adapters/kube/client/connection.ts";
import { objectOf, textsOf } from "../../../adapters/kube/client/json_fields.ts";
import {
  optimizationPolicyListWatch,
  parseOptimizationPolicy,
  parseRecommendationReport,
  POLICIES as POLICY_KIND,
  recommendationReportListWatch,
  REPORTS as REPORT_KIND,
} from "../../../adapters/kube/kinds/optimization_policies.ts";
import { createPodMetrics } from "../../../adapters/kube/kinds/pod_metrics.ts";
import {
  parseWorkload,
  replicaSetListWatch,
  workloadCollection,
  workloadPlural,
} from "../../../adapters/kube/kinds/workloads.ts";
import { createCheckpointStore } from "../../../adapters/kube/writers/checkpoint_store.ts";
import {
  createPolicyStatusWriter,
  createReportStore,
} from "../../../adapters/kube/writers/recommendation_writers.ts";
import { createWorkloadWriter } from "../../../adapters/kube/writers/workload_writer.ts";
import { USAGE_LABEL } from "../../../controller/rightsizing/sources/usage_sampler.ts";
import type { WorkloadKind } from "../../../shared/api/workload.ts";
import type { CheckpointStore } from "../../../shared/control/persisted_map.ts";
import { silentLog } from "../../../shared/log.ts";
import { rightsizedWorkload } from "../../../shared/rightsizing/guards/rightsizing_facts.ts";
import { followActs } from "./follow_acts.ts";
import type { RoleAct } from "./role_act.ts";
import { MADE, type RoleStage } from "./role_stage.ts";
import { VPA_ACTS } from "./vpa_acts.ts";

const POLICIES = "optimizationpolicies.optipod.io";
const REPORTS = "recommendationreports.optipod.io";
const CONFIG_MAPS = "configmaps in mbcas-system";
/** Of what is not there before. */
const FRESH = "fresh";

/** Policies to read, and to say what became of them. */
const POLICY_ACTS: readonly RoleAct[] = [
  ...followActs({
    rights: POLICIES,
    kind: "policies",
    source: (connection) => optimizationPolicyListWatch(connection),
    name: () => MADE,
  }),
  ...followActs({
    rights: "replicasets.apps",
    kind: "ReplicaSets",
    source: (connection) => replicaSetListWatch(connection),
    name: () => MADE,
  }),
  {
    right: "update optimizationpolicies/status.optipod.io",
    deed: "report the state of a policy",
    async perform(connection, { admin, namespace }) {
      const path = resourcePath({ ...POLICY_KIND, namespace, name: MADE });
      const policy = parseOptimizationPolicy(await admin.request({ path }));
      const status = { workloadsDiscovered: (policy.status.workloadsDiscovered ?? 0) + 1 };
      const version = await createPolicyStatusWriter(connection).writeStatus(policy, status);
      assert.notEqual(version, policy.metadata.resourceVersion);
    },
  },
];

/** A report is made, and then applied over its version. */
const REPORT_ACTS: readonly RoleAct[] = [
  ...followActs({
    rights: REPORTS,
    kind: "reports",
    source: (connection) => recommendationReportListWatch(connection),
    name: () => MADE,
  }),
  {
    right: `create ${REPORTS}`,
    deed: "report for the first time",
    async perform(connection, { namespace }) {
      const report = { namespace, name: FRESH, workloads: [] };
      const { metadata } = await createReportStore(connection).apply(report);
      assert.equal(metadata.name, FRESH);
    },
  },
  {
    right: `patch ${REPORTS}`,
    deed: "report anew",
    async perform(connection, { admin, namespace }) {
      const path = resourcePath({ ...REPORT_KIND, namespace, name: MADE });
      const { metadata } = parseRecommendationReport(await admin.request({ path }));
      const { workloads } = await createReportStore(connection).apply({
        namespace,
        name: MADE,
        resourceVersion: metadata.resourceVersion,
        workloads: [{
          kind: "Deployment",
          name: MADE,
          status: "Recommended",
          policy: { namespace, name: MADE },
          recommendations: [],
          inForce: [],
        }],
      });
      assert.deepEqual(workloads.map(({ name }) => name), [MADE]);
    },
  },
  {
    right: `delete ${REPORTS}`,
    deed: "take a report away",
    async perform(connection, { admin, namespace }) {
      const path = resourcePath({ ...REPORT_KIND, namespace, name: MADE });
      const report = parseRecommendationReport(await admin.request({ path }));
      await createReportStore(connection).remove(report);
      await assert.rejects(admin.request({ path }), /not found/);
    },
  },
];

/** Reads one of the stage's workloads with all rights, as the API has it. */
function rawWorkload({ admin, namespace }: RoleStage, kind: WorkloadKind): Promise<unknown> {
  return admin.request({ path: `${workloadCollection(kind, namespace)}/${MADE}` });
}

/** Templates to change, which are read before, and annotations, for which nothing is read. */
function workloadActs(kind: WorkloadKind): readonly [get: RoleAct, patch: RoleAct] {
  const rights = `${workloadPlural(kind)}.apps`;
  const writer = (connection: KubeConnection) =>
    createWorkloadWriter(connection, { log: silentLog });
  const present = async (stage: RoleStage) =>
    rightsizedWorkload(parseWorkload(await rawWorkload(stage, kind), kind)) ??
      assert.fail(`the template of the ${kind} can't be read`);
  return [
    {
      right: `get ${rights}`,
      deed: `change the template of a ${kind}`,
      async perform(connection, stage) {
        const wanted = new Map([["app", { requests: { cpu: 150 }, limits: {} }]]);
        const options = { serverSideApply: true };
        await writer(connection).recreate(await present(stage), wanted, options);
        assert.equal((await present(stage)).template.containers[0]?.requests.cpu, 150);
      },
    },
    {
      right: `patch ${rights}`,
      deed: `annotate a ${kind}`,
      async perform(connection, stage) {
        const annotations = { "optipod.io/policy": `${stage.namespace}/${MADE}` };
        await writer(connection).annotate(await present(stage), { metadata: { annotations } });
        const { metadata } = objectOf(await rawWorkload(stage, kind));
        assert.partialDeepStrictEqual(textsOf(objectOf(metadata).annotations), annotations);
      },
    },
  ];
}

function checkpoints(connection: KubeConnection, { namespace }: RoleStage): CheckpointStore {
  return createCheckpointStore(connection, { namespace, label: USAGE_LABEL, manager: "optipod" });
}

/** What is there as the controller sees it. */
async function keptNames(connection: KubeConnection, stage: RoleStage): Promise<readonly string[]> {
  const kept = await checkpoints(connection, stage).list(new AbortController().signal);
  return kept.map(({ name }) => name);
}

/** Usage by metrics-server, and the ConfigMaps in which it outlives the controller. */
const USAGE_ACTS: readonly RoleAct[] = [
  {
    right: "list pods.metrics.k8s.io",
    deed: "read what pods use",
    async perform(connection) {
      const answer = await createPodMetrics(connection).read(new AbortController().signal);
      // RBAC is asked before the server looks whether it has the kind: that there is no
      // Only permitted accounts see metrics-server.
      if ("problem" in answer) assert.equal(answer.problem, "unavailable", answer.message);
    },
  },
  {
    right: `list ${CONFIG_MAPS}`,
    deed: "take up the history of usage",
    async perform(connection, stage) {
      assert.ok((await keptNames(connection, stage)).includes(MADE));
    },
  },
  {
    right: `create ${CONFIG_MAPS}`,
    deed: "keep the history of another namespace",
    async perform(connection, stage) {
      const { signal } = new AbortController();
      await checkpoints(connection, stage).apply({ name: FRESH, data: { a: "1" } }, signal);
      assert.ok((await keptNames(connection, stage)).includes(FRESH));
    },
  },
  {
    right: `patch ${CONFIG_MAPS}`,
    deed: "keep the history of a namespace",
    async perform(connection, stage) {
      const { signal } = new AbortController();
      const store = checkpoints(connection, stage);
      await store.apply({ name: MADE, data: { a: "1" } }, signal);
      const kept = await store.list(signal);
      assert.deepEqual(kept.find(({ name }) => name === MADE)?.data, { a: "1" });
    },
  },
  {
    right: `delete ${CONFIG_MAPS}`,
    deed: "forget the history of a namespace",
    async perform(connection, stage) {
      await checkpoints(connection, stage).remove(MADE, new AbortController().signal);
      assert.ok(!(await keptNames(connection, stage)).includes(MADE));
    },
  },
];

/** In an order in which each finds what it needs. */
export const RIGHTSIZING_ACTS: readonly RoleAct[] = [
  ...POLICY_ACTS,
  ...REPORT_ACTS,
  ...(["Deployment", "StatefulSet", "DaemonSet"] as const).flatMap(workloadActs),
  ...USAGE_ACTS,
  ...VPA_ACTS,
];
