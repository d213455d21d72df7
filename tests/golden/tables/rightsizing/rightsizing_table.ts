/**
 * The decision table of rightsizing's guards and of what is applied.
 *
 * @module
 */
import { type DecisionTable, type Draw, drawCases, drawWith, tableOf } from "../decision_table.ts";
import type { RawContainer, RawList, RawResources } from "../raw_pod.ts";
import { BOUND_CASES } from "./bound_cases.ts";
import { RIGHTSIZING_CASES } from "./rightsizing_cases.ts";
import type { RawRefusal } from "../market/market_input.ts";
import { RIGHTSIZING_REASONS } from "../../../../shared/api/reasons/rightsizing_reasons.ts";
import {
  RIGHTSIZING_CHAIN,
  STRAGGLER_CHAIN,
} from "../../../../shared/rightsizing/guards/decide_rightsizing.ts";
import { rightsizingResult } from "./rightsizing_row.ts";

const SEED = 3;

const BOUND_SEED = 7;

/** Inputs in which two cases apply. */
const MIXED = 10;

/** Each case several times, then two at once; always the same inputs. */
export function drawRightsizing(): readonly RightsizingInput[] {
  const draw = drawWith(SEED);
  const another = (input: RightsizingInput): RightsizingInput =>
    draw.oneOf(RIGHTSIZING_CASES)[0](input, draw);
  return [
    ...drawCases(RIGHTSIZING_CASES, { seed: SEED, usual: usualRightsizing }),
    ...Array.from({ length: MIXED }, () => another(another(usualRightsizing(draw)))),
    ...drawCases(BOUND_CASES, { seed: BOUND_SEED, usual: usualRightsizing }),
  ].map(withoutIdleLimits);
}

/** Recommended limits are left out where the policy does not update limits. */
export function withoutIdleLimits(input: RightsizingInput): RightsizingInput {
  if (input.updateStrategy?.["updateRequestsOnly"] === false) return input;
  const recommended = Object.entries(input.recommended).map(([name, { requests = {} }]) =>
    [name, { requests }] as const
  );
  return { ...input, recommended: Object.fromEntries(recommended) };
}

/** A Deployment of one or two containers, and requests between half and double of what it has. */
export function usualRightsizing(draw: Draw): RightsizingInput {
  const names = draw.chance(1 / 9) ? ["app", "log"] : ["app"];
  const containers = names.map((name) => container(draw, name));
  const recommended = containers.map(({ name }) => [name, recommendation(draw)] as const);
  return {
    containers,
    recommended: Object.fromEntries(recommended),
  };
}

function container(draw: Draw, name: string): RawContainer {
  const [cpu, memory] = [20 * draw.whole(3, 10), 32 * draw.whole(2, 5)];
  const requests = { cpu: `${cpu}m`, memory: `${memory}Mi` };
  const limits = { cpu: `${2 * cpu}m`, memory: `${2 * memory}Mi` };
  const resources = draw.oneOf<RawResources>([
    { requests, limits },
    { requests, limits },
    { requests, limits: { memory: limits.memory } },
    { requests },
  ]);
  return { name, resources };
}

function recommendation(draw: Draw): RawResources {
  const [cpu, memory] = [10 * draw.whole(6, 30), 16 * draw.whole(3, 12)];
  return {
    requests: { cpu: `${cpu}m`, memory: `${memory}Mi` },
    limits: { cpu: `${draw.oneOf([1, 2]) * cpu}m`, memory: `${draw.oneOf([1, 2]) * memory}Mi` },
  };
}

/** Requests and limits by container. */
export type RawResourcesByName = Readonly<Record<string, RawResources>>;

/** One input of the table. What is absent is as usual, or is not there. */
export interface RightsizingInput {
  /** Of the template of Deployment `web`. */
  readonly containers: readonly RawContainer[];
  readonly initContainers?: readonly RawContainer[];
  /** `spec.resources` of the template. */
  readonly podResources?: RawResources;
  /** Pods that run; one where absent. */
  readonly pods?: number;
  /** Theirs where they differ from the template's. */
  readonly podContainers?: readonly RawContainer[];
  /** `spec.os.name` of the pods. */
  readonly os?: string;
  /** `spec` of the Deployment, and its `status` where its rollout is not over. */
  readonly paused?: true;
  readonly status?: Readonly<Record<string, unknown>>;
  /** Fields of the OptimizationPolicy's `spec`. */
  readonly mode?: "Recommend" | "Disabled";
  readonly updateStrategy?: Readonly<Record<string, unknown>>;
  readonly recommended: RawResourcesByName;
  /** 100 of each container where absent. */
  readonly samples?: Readonly<Record<string, number>>;
  /** Largest memory seen lately, by container: 30Mi where left out, `unknown` where it is not known. */
  readonly memoryPeaks?: RawList;
  readonly limitRange?: readonly Readonly<Record<string, unknown>>[];
  readonly quota?: { readonly hard: RawList; readonly used: RawList };
  /** `averageUtilization` of this resource of a HorizontalPodAutoscaler. */
  readonly hpaOn?: "cpu" | "memory" | "unreadable";
  readonly vpaMode?: string;
  /** `controlledResources` of its policy for all containers; all where absent. */
  readonly vpaResources?: readonly string[];
  /** `status` of the pods' node, which is the only one. */
  readonly node?: {
    readonly allocatable?: RawList;
    readonly pressure?: string;
    readonly kubeletVersion?: string;
  };
  readonly dryRun?: true;
  readonly missingPermissionFor?: "InPlace" | "Recreate";
  /** A policy engine has denied this recommendation; absent: none. */
  readonly denied?: RawResourcesByName;
  /** Until the policy engine may be asked again; 10 where absent. */
  readonly denialEndsInMinutes?: number;
  readonly appliedMinutesAgo?: number;
  /** What earlier applications have set, adopted on the template as it is now. */
  readonly inForce?: RawResourcesByName;
  /** The author has changed the template since. */
  readonly isEditedSince?: true;
  /** Hours since another field manager changed a resource of container `app` in the template. */
  readonly changedHoursAgo?: Readonly<Partial<Record<"cpu" | "memory", number>>>;
  readonly server?: Readonly<Partial<Record<"resizeServed" | "lowersMemoryLimits", false>>>;
  /** The market sets `limits.cpu` of the pods; this is its limit where it differs. */
  readonly marketLimits?: RawList;
  /** The API server's answer to a change; it takes it where absent. */
  readonly refusal?: RawRefusal;
}

const BEFORE = "it is decided before the guards are asked";

const IMPOSSIBLE = {
  EvaluationFailed: BEFORE,
  UnreadableTemplate: BEFORE,
  Outweighed: BEFORE,
  MetricsMissing: BEFORE,
  ProviderUnavailable: BEFORE,
  VPANotPublished: "it is about a VerticalPodAutoscaler that is published after the decision",
};

const IN_PLACE_ONLY = "values in force never lead to a recreation of pods";

const FITTED = "no case yet: values in force are fitted to a new pod before the guards are asked";

const NEVER_DECIDES = {
  "stragglers/NotRolledOut": IN_PLACE_ONLY,
  "stragglers/HorizontalAutoscalerConflicts": FITTED,
  "stragglers/VerticalAutoscalerConflicts": FITTED,
  "stragglers/OutsideRanges": FITTED,
  "stragglers/OverQuotas": FITTED,
  "stragglers/OverNodes": FITTED,
  "stragglers/QoSWouldChange": FITTED,
  "stragglers/RequestAboveLimit": FITTED,
};

/** Draws the inputs and decides each. */
export async function rightsizingTable(): Promise<DecisionTable> {
  const rows = [];
  for (const input of drawRightsizing()) {
    rows.push({ input, ...await rightsizingResult(input) });
  }
  return tableOf(rows, {
    reasonsOf: ({ reason, cuts = [], failure }) => [
      reason ?? "none",
      ...cuts.filter((one) => one !== reason),
      ...(failure === undefined ? [] : [failure]),
    ],
    expected: Object.keys(RIGHTSIZING_REASONS),
    impossible: IMPOSSIBLE,
    checks: {
      expected: [
        ...RIGHTSIZING_CHAIN.map(({ name }) => `rightsizing/${name}`),
        ...STRAGGLER_CHAIN.map(({ name }) => `stragglers/${name}`),
      ],
      impossible: NEVER_DECIDES,
    },
  });
}
