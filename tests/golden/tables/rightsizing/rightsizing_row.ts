/**
 * Decides one input of the decision table of rightsizing, from the API's objects to the patches.
 *
 * @module
 */
import { type Appliers, applyDecision } from "../../../../controller/rightsizing/apply_decision.ts";
import { ApiError } from "../../../../shared/api/api_error.ts";
import type { Resources } from "../../../../shared/api/pod.ts";
import { formatCPU } from "../../../../shared/quantity.ts";
import { RIGHTSIZING_MANAGER } from "../../../../shared/resize/original_limits.ts";
import { type ContainerResources, containerResources } from "../../../../shared/resize/patch.ts";
import { OWNS_NOTHING } from "../../../fixtures/rightsizing/rightsizing_patches.ts";
import { templatePatch } from "../../../../shared/rightsizing/template_patch.ts";
import {
  decideRightsizing,
  retryResize,
  type RightsizingDecision,
} from "../../../../shared/rightsizing/guards/decide_rightsizing.ts";
import type { Decided } from "../market/market_row.ts";
import { type RightsizingInput, rightsizingSnapshotOf } from "./rightsizing_snapshot_of.ts";

type ResourcesByName = Readonly<Record<string, ContainerResources["resources"]>>;

/** The decision on an input. */
export interface RightsizingResult {
  /** Why nothing is applied; null: something is. */
  readonly reason: string | null;
  /** Reasons of what was cut out of the recommendation, or reported; absent: nothing. */
  readonly cuts?: readonly string[];
  /** True where pods get what is in force, instead of what is recommended. */
  readonly stragglers?: true;
  readonly patch: readonly Readonly<Record<string, unknown>>[];
  /** The class of a change that the server has refused. */
  readonly failure?: string;
  readonly retryAfterMs?: number;
  /** The values in force before that count. */
  readonly counted?: ResourcesByName;
  /** The values of new pods afterwards; absent where they are those of the first patch. */
  readonly inForce?: ResourcesByName;
}

/** Decides what happens to the workload. */
export async function rightsizingResult(
  input: RightsizingInput,
): Promise<Decided<RightsizingResult>> {
  const { snapshot, pods } = rightsizingSnapshotOf(input);
  const first = decideRightsizing(snapshot);
  const stragglers = retryResize(snapshot, first);
  const decision = stragglers ?? first;
  const cuts = [...new Set([...first.clamps, ...decision.clamps].map(({ reason }) => reason))];
  const base = {
    ...(cuts.length === 0 ? {} : { cuts }),
    ...(stragglers === undefined ? {} : { stragglers: true as const }),
    ...(input.inForce === undefined ? {} : { counted: rawOf(snapshot.inForce) }),
  };
  const by = [
    ...decidedBy(first, "rightsizing"),
    ...(stragglers === undefined ? [] : decidedBy(stragglers, "stragglers")),
  ];
  if (decision.outcome === "hold") {
    const { reason, retryAfterMs } = decision;
    const again = retryAfterMs === undefined ? {} : { retryAfterMs };
    return { result: { reason, ...base, patch: [], ...again }, by };
  }
  const patch: Readonly<Record<string, unknown>>[] = [];
  const appliers = recordingAppliers(input, patch);
  const { failure, inForce } = await applyDecision(snapshot, decision, { pods, appliers });
  return {
    result: {
      reason: null,
      ...base,
      patch,
      ...(failure === undefined ? {} : { failure: failure.reason }),
      ...inForceAfter(inForce, patch),
    },
    by,
  };
}

/** The guards that held or changed something, as `chain/guard`. */
function decidedBy(decision: RightsizingDecision, chain: string): readonly string[] {
  const names = decision.clamps.map(({ by }) => by);
  if (decision.outcome === "hold") names.push(decision.by);
  return [...new Set(names)].map((name) => `${chain}/${name}`);
}

/** Writes down what is sent, and answers as the input says. */
function recordingAppliers(
  input: RightsizingInput,
  patch: Readonly<Record<string, unknown>>[],
): Appliers {
  const answer = <T>(value: T): Promise<T> => {
    const { refusal } = input;
    if (refusal === undefined) return Promise.resolve(value);
    return Promise.reject(new ApiError(refusal.code, "", refusal.message));
  };
  const resizer: Appliers["resizer"] = {
    resize(_namespace, pod, { spec }, { manager = "" } = {}) {
      const by = manager === RIGHTSIZING_MANAGER ? "rightsizing" : "market";
      patch.push({ by, ...(input.pods === undefined ? {} : { pod }), ...spec });
      return answer("8");
    },
  };
  return {
    resizer,
    workloads: {
      recreate(workload, wanted, options) {
        const change = { wanted, owned: OWNS_NOTHING };
        patch.push({ template: templatePatch(workload, change, options).body.spec.template.spec });
        return answer(undefined);
      },
      annotate: () => Promise.resolve(),
    },
    setOriginalLimits({ metadata }, limits) {
      const own = [...limits].map(([name, limit]) => [name, formatCPU(limit)]);
      patch.push({ pod: metadata.name, originalLimits: Object.fromEntries(own) });
      return Promise.resolve();
    },
  };
}

function inForceAfter(
  inForce: ReadonlyMap<string, Resources> | undefined,
  [first]: readonly Readonly<Record<string, unknown>>[],
): Pick<RightsizingResult, "inForce"> {
  if (inForce === undefined) return {};
  const sent = [...inForce].map(([name, one]) => containerResources({ name, ...one }));
  const isReported = JSON.stringify(first?.["containers"]) === JSON.stringify(sent);
  return isReported ? {} : { inForce: rawOf(inForce) };
}

function rawOf(values: ReadonlyMap<string, Resources>): ResourcesByName {
  return Object.fromEntries(
    [...values].map(([name, one]) => [name, containerResources({ name, ...one }).resources]),
  );
}
