/**
 * The chain of checks: what must hold before a resize of a pod is sent, in order.
 *
 * @module
 */
import type { EnforcementReason } from "../api/reasons/enforcement_reasons.ts";
import { GRID } from "../quantity.ts";
import { defaultsProblem, rangeVerdict } from "./checks/limit_range.ts";
import {
  boundsStale,
  oscillating,
  outOfSync,
  outsideBounds,
  raisedOutOfSync,
  stepLimited,
  waiting,
} from "./checks/limit_moves.ts";
import { neverResizable } from "./checks/platform.ts";
import {
  alreadyThere,
  backOff,
  identityMismatch,
  notLive,
  originalUnknown,
  rateLimited,
  resizeInProgress,
} from "./checks/pod_state.ts";
import { classVerdict } from "./checks/qos_class.ts";
import { quotaVerdict } from "./checks/resource_quota.ts";
import { disruptionVerdict } from "./checks/restart_policy.ts";
import { movesRequest } from "./inputs/qos.ts";
import {
  changesOf,
  type ClaimInput,
  type PodInput,
  type PodVerdict,
} from "./inputs/resize_input.ts";
import type { WantedResources } from "./inputs/resources.ts";
import { limitsWanted, marketSubject } from "./inputs/subject.ts";
import type { ClaimSource, LimitChange } from "./patch.ts";
import { type Check, type Finding, runChecks } from "./run_checks.ts";

/** Turns a clamp into a hold where nothing of it can be sent, so that no later check reports instead. */
function heldUnless(verdict: PodVerdict, isSent: (wanted: WantedResources) => boolean): PodVerdict {
  if (verdict?.verdict !== "clamp" || isSent(verdict.wanted)) return verdict;
  const { reason, message } = verdict;
  return { verdict: "hold", reason, message };
}

function platform(input: PodInput): PodVerdict {
  const found = neverResizable(input);
  return found && { verdict: "hold", ...found };
}

/** Leaves out containers that a CPU change restarts. */
function restartPolicy({ pod }: PodInput, wanted: WantedResources): PodVerdict {
  const found = disruptionVerdict(wanted, { subjects: [marketSubject(pod)] });
  const verdict = found && { ...found, reason: "RestartPolicy" as const };
  return heldUnless(verdict, (rest) => changesOf(pod, rest).length > 0);
}

function writesDefaults({ pod, limitRange }: PodInput): Finding | undefined {
  const message = defaultsProblem(pod, limitRange);
  return message === undefined ? undefined : { verdict: "hold", message };
}

function limitRange({ pod, limitRange: ranges }: PodInput, wanted: WantedResources): PodVerdict {
  return rangeVerdict(wanted, { ranges, subjects: [marketSubject(pod)], step: GRID });
}

function quotaExceeded(input: PodInput, wanted: WantedResources): PodVerdict {
  const { pod, quotaRoom } = input;
  if (quotaRoom === undefined) return undefined;
  const { millicores: room, quota: name } = quotaRoom;
  const sides = movesRequest(pod) ? ["requests", "limits"] as const : ["limits"] as const;
  const quotas = sides.map((side) => ({ name, resource: "cpu" as const, side, room }));
  const asked = { quotas, subjects: [marketSubject(pod)], step: GRID };
  return heldUnless(
    quotaVerdict(wanted, asked),
    // The server refuses a raise that ends below a LimitRange's minimum.
    (rest) => changesOf(pod, rest).length > 0 && limitRange(input, rest) === undefined,
  );
}

function qosWouldChange({ pod }: PodInput, wanted: WantedResources): PodVerdict {
  return classVerdict(wanted, [marketSubject(pod)]);
}

/** Sources of claims that go through the chain. */
type ChainSource = Exclude<ClaimSource, "rightsizing">;

type Ask<Input, Found> = (input: Input, wanted: WantedResources) => Found | undefined;

/**
 * A check with one reason is named after it, with a suffix where another check has the same reason; its
 * findings need no reason. A check with several reasons has its own name.
 */
type NamedCheck<Input> =
  | readonly [EnforcementReason | `${EnforcementReason}/${string}`, Ask<Input, Finding>]
  | readonly [
    "NeverResizable" | "AlreadyThere",
    Ask<Input, NonNullable<PodVerdict>>,
  ];

/** The sources of the claims that a check applies to, and the check. */
type Row =
  | readonly [readonly ("market" | "restore")[], ...NamedCheck<ClaimInput>]
  | readonly [readonly ChainSource[], ...NamedCheck<PodInput>];

const ALL: readonly ChainSource[] = ["market", "restore", "manual"];
const NOT_RESTORE: readonly ChainSource[] = ["market", "manual"];

/**
 * - `market`: no check is about scope or silent agents, since the controller restores such pods. The
 *   scope has the rules of NeverResizable, too; the check is a second line.
 * - `restore`: the original limits are not clamped: the server accepts or refuses them. NeverResizable
 *   does not hold, since a pod with a changed limit could be resized before. Defaults that the server
 *   would write do hold: nothing could remove them.
 * - `manual`: scope and bounds do not hold a person's values, only what the server or the kubelet would
 *   refuse.
 */
const CHAIN: readonly Row[] = [
  [["market", "restore"], "OriginalUnknown", originalUnknown],
  [["market", "restore"], "IdentityMismatch", identityMismatch],
  [["market"], "Waiting", waiting],
  [["market"], "BoundsStale", boundsStale],
  [["market"], "OutsideBounds", outsideBounds],
  [ALL, "NotRunning", notLive],
  [NOT_RESTORE, "NeverResizable", platform],
  // A pod that has the values needs no change that might restart it.
  [ALL, "AlreadyThere", alreadyThere],
  [ALL, "RestartPolicy", restartPolicy],
  [["market"], "OutOfSync", outOfSync],
  [["market"], "Oscillating", oscillating],
  [["market"], "StepLimited", stepLimited],
  [NOT_RESTORE, "LimitRange/defaults", writesDefaults],
  [["restore"], "RestoreBlocked", writesDefaults],
  // After OutOfSync and StepLimited: the server refuses a pod outside of the range.
  [NOT_RESTORE, "LimitRange", limitRange],
  [NOT_RESTORE, "QuotaExceeded", quotaExceeded],
  // After all checks that clamp: it holds if the values to be sent are still raised.
  [["market"], "OutOfSync/raised", raisedOutOfSync],
  [NOT_RESTORE, "QoSWouldChange", qosWouldChange],
  [ALL, "ResizeInProgress", resizeInProgress],
  [["market", "restore"], "BackOff", backOff],
  [["market"], "RateLimited", rateLimited],
];

/** Checks of a claim, or of all that is known of a pod. */
export type Chain<Input> = readonly Check<Input, EnforcementReason>[];

function chainOf(source: ChainSource): Chain<ClaimInput> {
  return CHAIN.filter(([sources]) => sources.some((one) => one === source))
    .map(([, name, ask]) => ({
      name,
      check(input, wanted) {
        const found = ask(input, wanted);
        return found && { reason: name.replace(/\/.*/, "") as EnforcementReason, ...found };
      },
    }));
}

/** For limits that the market sets. */
export const MARKET_CHAIN: Chain<ClaimInput> = chainOf("market");

/** For the user's original limits coming back. */
export const RESTORE_CHAIN: Chain<ClaimInput> = chainOf("restore");

/** For limits that a person sets: all its checks need the pod alone. */
export const MANUAL_CHAIN: Chain<PodInput> = chainOf("manual") as Chain<PodInput>;

/** The chain's result. */
export interface Decision {
  /** Containers to change now; empty when held. */
  readonly changes: readonly LimitChange[];
  /** The check that held or was the last to clamp; absent when none did. */
  readonly by?: string;
  readonly reason?: EnforcementReason;
  readonly message?: string;
  readonly retryAfterMs?: number;
}

/**
 * Runs the checks in order. The first hold ends the chain; after a clamp it continues with the clamped
 * values. Only limits that then differ from the pod's spec are changed.
 */
export function decide<Input extends PodInput>(
  chain: Chain<Input>,
  input: Input,
  { limits }: {
    /**
     * The CPU limits that the source wants, millicores by container. The limits of a container have one
     * owner at a time, so claims of several sources need no merging: `patchParts()` says under which
     * name each is sent.
     */
    readonly limits: Iterable<readonly [container: string, millicores: number]>;
  },
): Decision {
  const { pod } = input;
  const { hold, wanted, reports } = runChecks(chain, { input, wanted: limitsWanted(pod, limits) });
  return hold === undefined
    ? { changes: changesOf(pod, wanted), ...reports.at(-1) }
    : { changes: [], ...hold };
}
