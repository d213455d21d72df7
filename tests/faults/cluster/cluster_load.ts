/**
 * The pods of the simulated cluster and what they work on, and a Deployment under an OptimizationPolicy. Loads
 * are periodic and not random: the same pod does the same in every run.
 *
 * @module
 */
import type { Pod } from "../../../shared/api/pod.ts";
import type { ArrivalProcess } from "../../../lab/simulation/node/request_server.ts";
import type { UsageSource } from "../../../controller/rightsizing/ports.ts";
import type { PolicySpec } from "../../../shared/rightsizing/policy_spec.ts";
import type { SimulatedAPI } from "../../../lab/simulation/api/simulated_api.ts";
import { sampleContainer, samplePod } from "../../contract/support/sample_objects.ts";
import { storedPolicy } from "../../fixtures/rightsizing/workload_records.ts";
import { sampleWorkload, workloadSpec } from "../../fixtures/sample_workloads.ts";
import { autoPolicy } from "../../fixtures/rightsizing/rightsizing_snapshot.ts";
import { createUsageAnswers } from "../../fixtures/rightsizing/usage_answers.ts";

/** A pod of the cluster. CPU in millicores. */
export interface LoadedPod {
  readonly namespace: string;
  readonly name: string;
  readonly node: string;
  readonly request: number;
  readonly limit: number;
  readonly priority: number;
  /** The ReplicaSet that made it: its template has the limit. Absent: a bare pod. */
  readonly replicaSet?: string;
  readonly threads: number;
  /** Bytes. */
  readonly memory?: { readonly request: number; readonly limit: number };
  /** Its demand, one stretch after the other. */
  readonly load: readonly LoadPhase[];
}

/** A stretch of constant load. */
export interface LoadPhase {
  readonly untilMs: number;
  /** CPU wanted, millicores. */
  readonly cpu: number;
}

/** A limit may be this multiple of the original limit: the default burst factor. */
export const BURST_FACTOR = 8;
/** Time between two requests of a pod, ms. */
const EVERY_MS = 50;
const ALWAYS = Infinity;

/**
 * A bare database, two replicas behind a template, a batch job that fills a node, a guest under a
 * LimitRange, one pod that never takes part, and others.
 */
export const LOADED_PODS: readonly LoadedPod[] = [
  bare("shop/db-0 node-1", { request: 200, limit: 400, priority: 1000, load: bursts(150, 700) }),
  web("shop/web-a node-1", bursts(100, 500)),
  web("shop/web-b node-2", bursts(80, 400)),
  bare("batch/hog-0 node-1", {
    request: 300,
    limit: 700,
    priority: 0,
    threads: 4,
    load: [{ untilMs: 20_000, cpu: 100 }, { untilMs: 60_000, cpu: 1900 }, {
      untilMs: ALWAYS,
      cpu: 100,
    }],
  }),
  bare("batch/job-0 node-2", { request: 250, limit: 500, priority: 0, load: bursts(200, 300) }),
  {
    ...at("tenants/app-7f9d-0 node-2"),
    ...{ request: 100, limit: 300, priority: 0, threads: 2, load: bursts(50, 250) },
    memory: { request: 64 * 2 ** 20, limit: 128 * 2 ** 20 },
    replicaSet: "app-7f9d",
  },
  bare("guest/box-0 node-2", { request: 100, limit: 200, priority: 0, load: bursts(60, 150) }),
  bare("lab/probe-0 node-1", { request: 50, limit: 150, priority: 0, load: bursts(40, 90) }),
];

/** The limit that the template of the pod's owner has, millicores; undefined: a bare pod. */
export function templateLimit({ metadata: { owner, name } }: Pod): number | undefined {
  return owner && LOADED_PODS.find((one) => one.name === name)?.limit;
}

function at(place: string): Pick<LoadedPod, "namespace" | "name" | "node"> {
  const [namespace = "", name = "", node = ""] = place.split(/[/ ]/);
  return { namespace, name, node };
}

function bare(
  place: string,
  choice: Pick<LoadedPod, "request" | "limit" | "priority" | "load"> & { threads?: number },
): LoadedPod {
  return { threads: 2, ...choice, ...at(place) };
}

function web(place: string, load: readonly LoadPhase[]): LoadedPod {
  const shape = { request: 150, limit: 300, priority: 4000, threads: 4, replicaSet: "web-5d9c" };
  return { ...shape, ...at(place), load };
}

/** Ten quiet seconds and five busy ones in turn, until the quiet end. */
function bursts(quiet: number, busy: number): readonly LoadPhase[] {
  const phases: LoadPhase[] = [];
  for (let untilMs = 10_000; untilMs < 120_000; untilMs += 15_000) {
    phases.push({ untilMs, cpu: quiet }, { untilMs: untilMs + 5000, cpu: busy });
  }
  return [...phases, { untilMs: ALWAYS, cpu: quiet }];
}

/** The requests of a pod from `fromMs` on. */
export function workOf({ load }: LoadedPod, fromMs: number): ArrivalProcess {
  const costAt = (ms: number): number => {
    const cpu = load.find(({ untilMs }) => ms < untilMs)?.cpu ?? 0;
    return cpu * EVERY_MS / 1000;
  };
  const first = Math.ceil(fromMs / EVERY_MS) * EVERY_MS;
  const process = {
    nextAt: first,
    nextCost: costAt(first),
    next() {
      process.nextAt += EVERY_MS;
      process.nextCost = costAt(process.nextAt);
    },
  };
  return process;
}

/** The pod as it is created: without a UID, and without a container that runs. */
export function newPod(
  { namespace, name, node, request, limit, priority, replicaSet, memory }: LoadedPod,
): Pod {
  const container = sampleContainer({
    requests: { cpu: request, ...(memory && { memory: memory.request }) },
    limits: { cpu: limit, ...(memory && { memory: memory.limit }) },
  });
  const pod = samplePod(name, { namespace, nodeName: node, containers: [container] });
  const metadata = { ...pod.metadata, generation: 1 };
  if (replicaSet === undefined) return { ...pod, priority, metadata };
  const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: replicaSet, uid: replicaSet };
  const labels = { "pod-template-hash": replicaSet.split("-")[1] ?? "" };
  return { ...pod, priority, metadata: { ...metadata, labels, owner } };
}

/** The namespace and name of the Deployment, and of its policy. */
export const RIGHTSIZED = { namespace: "tenants", name: "app" } as const;
/** Its ReplicaSet. */
export const RIGHTSIZED_SET = "app-7f9d";

const MINUTE_MS = 60_000;
const MI = 2 ** 20;
/** Constant usage of its container, and the resulting request, at factor 1.2. */
const USED = { cpu: 150, memory: 40 * MI } as const;
/** Requests that the policy wants before and after users change it, millicores. */
export const RECOMMENDED = { before: 180, after: 225 } as const;

function policySpec(safetyFactor: number): PolicySpec {
  return autoPolicy({ cooldownMs: 10_000 }, { safetyFactor, intervalMs: 10_000 });
}

/** Puts the Deployment, its ReplicaSet and its policy into the cluster. */
export function seedRightsized({ store }: SimulatedAPI): void {
  const { Deployment, ReplicaSet, OptimizationPolicy } = store.tables;
  const { namespace, name } = RIGHTSIZED;
  const loaded = LOADED_PODS.find(({ replicaSet }) => replicaSet === RIGHTSIZED_SET);
  if (loaded === undefined) return;
  const { containers } = newPod(loaded);
  const made = sampleWorkload({ labels: {}, spec: workloadSpec(containers) });
  const { metadata: { uid } } = Deployment.seed({
    ...made,
    metadata: { ...made.metadata, namespace, name },
  });
  ReplicaSet.seed({
    metadata: { namespace, name: RIGHTSIZED_SET, uid: RIGHTSIZED_SET, resourceVersion: "" },
    deployment: { name, uid },
  });
  const spec = policySpec(RECOMMENDED.before / USED.cpu);
  OptimizationPolicy.seed(storedPolicy(name, spec, { namespace }));
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
