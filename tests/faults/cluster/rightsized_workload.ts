/**
 * A Deployment under an OptimizationPolicy in the simulated cluster: what it uses, and the policy.
 *
 * @module
 */
import type { UsageSource } from "../../../controller/rightsizing/ports.ts";
import type { PolicySpec } from "../../../shared/rightsizing/policy_spec.ts";
import type { SimulatedAPI } from "../../../lab/simulation/api/simulated_api.ts";
import { createUsageAnswers } from "../../fixtures/rightsizing/usage_answers.ts";
import { LOADED_PODS, newPod } from "./cluster_load.ts";

/** The namespace and name of the Deployment, and of its policy. */
export const RIGHTSIZED = { namespace: "tenants", name: "app" } as const;
/** Its ReplicaSet. */
export const RIGHTSIZED_SET = "app-7f9d";

const NO_VERSION = { uid: "", resourceVersion: "" };
const MINUTE_MS = 60_000;
const MI = 2 ** 20;
/** Constant usage of its container, and the resulting request, at factor 1.2. */
const USED = { cpu: 150, memory: 40 * MI } as const;
/** Requests that the policy wants before and after users change it, millicores. */
export const RECOMMENDED = { before: 180, after: 225 } as const;

function policySpec(safetyFactor: number): PolicySpec {
  return {
    mode: "Auto",
    weight: 100,
    selector: { workloadKinds: ["Deployment"] },
    provider: "prometheus",
    windowMs: 24 * 60 * MINUTE_MS,
    percentile: "P90",
    safetyFactor,
    minSamples: 10,
    bounds: { cpu: { min: 10, max: 1000 }, memory: { min: MI, max: 1024 * MI } },
    updateStrategy: {
      allowInPlaceResize: true,
      allowRecreate: false,
      updateRequestsOnly: true,
      limitMultipliers: { cpu: 1, memory: 1.1 },
      changeThresholdPercent: 10,
      cooldownMs: 10_000,
      useServerSideApply: true,
      allowWithHPA: false,
      publishVPA: false,
    },
    intervalMs: 10_000,
  };
}

/** Puts the Deployment, its ReplicaSet and its policy into the cluster. */
export function seedRightsized({ store }: SimulatedAPI): void {
  const { Deployment, ReplicaSet, OptimizationPolicy } = store.tables;
  const { namespace, name } = RIGHTSIZED;
  const loaded = LOADED_PODS.find(({ replicaSet }) => replicaSet === RIGHTSIZED_SET);
  if (loaded === undefined) return;
  const { containers } = newPod(loaded);
  const { metadata: { uid } } = Deployment.seed({
    kind: "Deployment",
    metadata: { namespace, name, ...NO_VERSION, labels: {}, annotations: {} },
    rollout: { updated: 1, total: 1, stands: false },
    makes: { paused: false, replicas: 1, template: { containers, initContainers: [] } },
  });
  ReplicaSet.seed({
    metadata: { namespace, name: RIGHTSIZED_SET, uid: RIGHTSIZED_SET, resourceVersion: "" },
    deployment: { name, uid },
  });
  OptimizationPolicy.seed({
    metadata: { namespace, name, ...NO_VERSION, generation: 1 },
    spec: policySpec(RECOMMENDED.before / USED.cpu),
    faults: [],
    status: {},
  });
}

/** Users want more room: another safety factor. */
export function changePolicy({ store }: SimulatedAPI): void {
  const key = `${RIGHTSIZED.namespace}/${RIGHTSIZED.name}`;
  const spec = policySpec(RECOMMENDED.after / USED.cpu);
  store.tables.OptimizationPolicy.modify(key, (stored) => ({ ...stored, spec }));
}

/** The same usage for each minute of three hours before `startMs` and of two after. */
export function constantUsage(startMs: number): UsageSource {
  const answers = createUsageAnswers();
  const usage = answers.of({ ...RIGHTSIZED, kind: "Deployment" }, "app");
  for (let minute = -180; minute < 120; minute++) {
    usage.cpu.push([startMs + minute * MINUTE_MS, USED.cpu]);
    usage.memory.push([startMs + minute * MINUTE_MS, USED.memory]);
  }
  return answers;
}
