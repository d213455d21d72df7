/**
 * Decides one input of the market's decision table, from the API's objects to the patches.
 *
 * @module
 */
import { parseAllocation } from "../../../../adapters/kube/kinds/allocations.ts";
import { parseNamespace } from "../../../../adapters/kube/kinds/namespaces.ts";
import { parseNode } from "../../../../adapters/kube/kinds/nodes.ts";
import { parsePod } from "../../../../adapters/kube/kinds/pods.ts";
import type { Caches } from "../../../../controller/caches.ts";
import { type PodSnapshot, snapshotOf } from "../../../../controller/allocation/pod_snapshot.ts";
import {
  AGENT_SILENT,
  applyLimits,
  decideLimits,
  refusalDecision,
} from "../../../../controller/allocation/limits.ts";
import { createQuotaRooms } from "../../../../controller/allocation/quotas/quota_room.ts";
import { DEFAULT_MARKET_CONFIG, type MarketConfig } from "../../../../controller/config.ts";
import { decide, MANUAL_CHAIN } from "../../../../shared/resize/chain.ts";
import type { ClaimInput, PodInput } from "../../../../shared/resize/inputs/resize_input.ts";
import { refusalReason } from "../../../../shared/resize/refusal.ts";
import { type PodResizer, resizePatch } from "../../../../shared/resize/patch.ts";
import { isLive } from "../../../../shared/resize/scope.ts";
import { ApiError } from "../../../../shared/api/api_error.ts";
import { parseCPUBound } from "../../../../shared/quantity.ts";
import {
  given,
  hpaOf,
  limitRangeOf,
  POD_IDENTITY,
  quotaOf,
  rawMetadata,
  type RawPod,
  type RawResources,
  vpaOf,
  wholePod,
} from "../raw_pod.ts";
import { RESTORE_MANAGER } from "../../../../shared/resize/original_limits.ts";
import { fixedCache, marketCaches } from "../../../fixtures/caches.ts";

/** A refusal of the API server. */
export interface RawRefusal {
  readonly code: number;
  readonly message: string;
  readonly causes?: readonly string[];
}

/**
 * One input of the table. Absent members are as usual, or are not there. Beside the API's objects it
 * has the facts that the controller keeps itself; a new one needs nothing here.
 */
export interface MarketInput
  extends Partial<Omit<ClaimInput, keyof PodInput | "allocation" | "maxStep">> {
  /** A person with `kubectl coalloc resize`; absent: the controller. */
  readonly by?: "person";
  readonly pod: RawPod;
  readonly node?: { readonly kubeletVersion?: string; readonly os?: string };
  readonly namespaceLabels?: Readonly<Record<string, string>>;
  /** `spec.limits` of a LimitRange. */
  readonly limitRange?: readonly Readonly<Record<string, unknown>>[];
  /** The status of a ResourceQuota. */
  readonly quota?: { readonly hard: RawQuantities; readonly used: RawQuantities };
  /** `spec.updatePolicy.updateMode` of a VerticalPodAutoscaler for the pod's workload. */
  readonly vpaMode?: string;
  /** `averageUtilization` of CPU of a HorizontalPodAutoscaler for it. */
  readonly hpaUtilization?: number;
  /** Wanted `limits.cpu` by container: the agent's, or the person's. Absent: not yet. */
  readonly wanted?: Readonly<Record<string, string>>;
  /** Fields of the PodAllocation's `spec` that differ from the pod. */
  readonly allocation?: Readonly<Record<string, string>>;
  /** Bounds by container, millicores; wide ones where absent. */
  readonly bounds?: Readonly<
    Record<string, { readonly floor: number; readonly ceiling: number; readonly held?: string }>
  >;
  /** The allocation has containers, but no `spec.market`. */
  readonly marketMissing?: true;
  /** `spec.market.observedBounds`; `status.bounds.revision` is 3. */
  readonly observedBounds?: number;
  /** `status.originalLimits`; 200m for each wanted one where absent. */
  readonly originalLimits?: Readonly<Record<string, string>>;
  readonly settings?:
    & Readonly<
      Partial<Record<"market" | "dryRun" | "resizeServed", boolean>>
    >
    & {
      readonly managementPolicy?: "OptIn";
      readonly excludedNamespaces?: readonly string[];
      readonly maxStep?: number;
    };
  readonly agentSilent?: true;
  /** Until the pod's turn. */
  readonly turnInMs?: number;
  /** The API server's answer to a resize; it takes it where absent. */
  readonly refusal?: RawRefusal;
}

type RawQuantities = NonNullable<RawResources["limits"]>;

/** The decision on an input. */
export interface MarketResult {
  /** Why the limits are not changed, or are changed otherwise than wanted; null: no reason. */
  readonly reason: string | null;
  /** Why the original limits come back; absent while the market sets them. */
  readonly restores?: string;
  /** The `spec` of each patch, by field manager. */
  readonly patch: readonly Readonly<Record<string, unknown>>[];
  readonly retryAfterMs?: number;
  /** Present where the pod takes no part in the market, as it ends or has no node. */
  readonly live?: false;
}

const { name: POD, namespace: NAMESPACE, nodeName: NODE, uid: UID } = POD_IDENTITY;
const OWNER = {
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  name: "web",
  uid: "uid-set",
  controller: true,
};

/** A result, and the check that decided it, as `chain/check`. */
export interface Decided<Result> {
  readonly result: Result;
  readonly by: readonly string[];
}

/** Decides what happens to the limits. */
export async function marketResult(input: MarketInput): Promise<Decided<MarketResult>> {
  const caches = cachesOf(input);
  const config = { ...DEFAULT_MARKET_CONFIG, ...input.settings };
  const snapshot = snapshotOf({ caches, config }, `${NAMESPACE}/${POD}`);
  if (snapshot === undefined) throw new RangeError("Cannot decide a row: its pod is not found");
  return input.by === "person" ? byPerson(input, snapshot) : await byController(input, {
    ...{ snapshot, caches, config },
  });
}

function byPerson(input: MarketInput, snapshot: PodSnapshot): Decided<MarketResult> {
  const { hard = {}, used = {} } = input.quota ?? {};
  const left = millicores(hard["limits.cpu"]) - millicores(used["limits.cpu"]);
  const quotaRoom = input.quota && { millicores: left };
  const decisionInput = { ...snapshot, quotaRoom };
  const { changes, reason = null, by } = decide(MANUAL_CHAIN, decisionInput, {
    limits: wantedOf(input),
  });
  const patch = changes.length === 0 ? [] : [{ by: "person", ...resizePatch(UID, changes).spec }];
  return { result: { reason, patch }, by: by === undefined ? [] : [`manual/${by}`] };
}

async function byController(
  input: MarketInput,
  { snapshot, caches, config }: {
    readonly snapshot: PodSnapshot;
    readonly caches: Caches;
    readonly config: MarketConfig;
  },
): Promise<Decided<MarketResult>> {
  const { allocation } = snapshot;
  if (allocation === undefined) {
    throw new RangeError("Cannot decide a row: its allocation is not found");
  }
  const clock = { monotonic: () => 0 };
  const asking = { bidsOf: () => [], wake: () => {} };
  const quota = createQuotaRooms({ caches, clock, config, ...asking }).roomOf(snapshot);
  const patch: Readonly<Record<string, unknown>>[] = [];
  const resizer: PodResizer = {
    resize(_namespace, _name, sent, { manager = "" } = {}) {
      patch.push({ by: manager === RESTORE_MANAGER ? "restore" : "market", ...sent.spec });
      return answerTo(input);
    },
  };
  const plan = decideLimits({
    ...input,
    ...{ ...snapshot, allocation },
    maxStep: config.maxStep ?? undefined,
    quotaRoom: quota?.headroom(),
  }, {
    config,
    restoring: snapshot.scope ?? (input.agentSilent && AGENT_SILENT),
  });
  const enforcement = await applyLimits(plan, {
    snapshot: { ...snapshot, allocation },
    resizer,
    queueWaitMs: () => input.turnInMs ?? 0,
  });
  const { refusal, restoring } = enforcement;
  const decision = refusal === undefined ? enforcement.decision : refusalDecision(enforcement, {
    message: refusal.message,
    reason: refusalReason(refusal),
  });
  const { reason = null, retryAfterMs } = decision;
  const { by } = enforcement.decision;
  const chain = restoring === undefined ? "market" : "restore";
  return {
    result: {
      reason,
      ...(restoring === undefined ? {} : { restores: restoring.reason }),
      patch,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      ...(isLive(snapshot.pod) ? {} : { live: false }),
    },
    by: by === undefined ? [] : [`${chain}/${by}`],
  };
}

function answerTo({ refusal }: MarketInput): Promise<string> {
  if (refusal === undefined) return Promise.resolve("8");
  const { code, message, causes = [] } = refusal;
  return Promise.reject(new ApiError(code, "", message, { causes }));
}

function wantedOf({ wanted = {} }: MarketInput): ReadonlyMap<string, number> {
  return new Map(Object.entries(wanted).map(([name, limit]) => [name, millicores(limit)]));
}

function millicores(quantity = "0"): number {
  return parseCPUBound(quantity);
}

function cachesOf(input: MarketInput): Caches {
  const { pod, node, limitRange, quota, vpaMode, hpaUtilization, namespaceLabels: labels } = input;
  const rawNode = {
    metadata: rawMetadata(NODE, { labels: { "kubernetes.io/os": node?.os ?? "linux" } }),
    status: {
      allocatable: { cpu: "8", memory: "16Gi" },
      nodeInfo: { kubeletVersion: node?.kubeletVersion ?? "v1.36.0" },
    },
  };
  return marketCaches({
    pods: fixedCache([parsePod(wholePod(pod, { owner: OWNER }))]),
    namespaces: fixedCache([parseNamespace({ metadata: rawMetadata(NAMESPACE, { labels }) })]),
    nodes: fixedCache([parseNode(rawNode)]),
    allocations: fixedCache([parseAllocation(allocationOf(input))]),
    limitRanges: fixedCache(given(limitRange, limitRangeOf)),
    resourceQuotas: fixedCache(given(quota, quotaOf)),
    horizontalPodAutoscalers: fixedCache(
      given(hpaUtilization, (percent) => hpaOf("StatefulSet", { resource: "cpu", percent })),
    ),
    verticalPodAutoscalers: fixedCache(
      given(vpaMode, (updateMode) => vpaOf("StatefulSet", { updateMode })),
    ),
  });
}

function allocationOf(input: MarketInput): unknown {
  const { wanted, allocation = {}, observedBounds = 3, bounds } = input;
  const names = Object.keys(wanted ?? {});
  const containers = names.map((name) => ({ name, cpuLimit: wanted?.[name] }));
  const usual = Object.fromEntries(names.map((name) => [name, "200m"]));
  const market = {
    mode: "uncongested",
    price: 0,
    demand: 400,
    need: 400,
    credit: 1,
    reason: "Throttled",
    observedBounds,
  };
  const wide = Object.fromEntries(names.map((name) => [name, { floor: 10, ceiling: 64_000 }]));
  return {
    apiVersion: "allocation.mbcas.io/v1alpha1",
    kind: "PodAllocation",
    metadata: { name: UID, namespace: NAMESPACE, uid: "uid-allocation", resourceVersion: "9" },
    spec: {
      podName: POD,
      podUID: UID,
      nodeName: NODE,
      namespace: NAMESPACE,
      ...allocation,
      ...(containers.length === 0
        ? {}
        : { containers, ...(input.marketMissing ? {} : { market }) }),
    },
    status: {
      bounds: {
        revision: 3,
        reason: "",
        containers: Object.entries(bounds ?? wide).map(([name, one]) => ({
          name,
          containerID: `containerd://${name}`,
          weight: 100,
          ...one,
        })),
      },
      originalLimits: Object.entries(input.originalLimits ?? usual).map(([name, cpu]) => ({
        name,
        cpu,
      })),
    },
  };
}
