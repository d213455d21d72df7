/**
 * All reasons: one list for objects, events, metrics, command line and docs.
 *
 * @module
 */
import type { Reason } from "./reason.ts";
import { BOUND_REASONS } from "./bound_reasons.ts";
import {
  ENFORCEMENT_REASONS,
  type EnforcementReason,
  EVENT_REASONS,
} from "./enforcement_reasons.ts";
import { MARKET_REASONS, type MarketReason } from "./market_reasons.ts";
import { PLACEMENT_EVENT_REASONS, PLACEMENT_REASONS } from "./placement_reasons.ts";
import {
  POLICY_REASONS,
  RIGHTSIZING_EVENT_REASONS,
  RIGHTSIZING_REASONS,
} from "./rightsizing_reasons.ts";

/** `OtherVersion` replaces unknown reasons in events and metrics, so that these have closed lists. */
export const VERSION_REASONS = {
  OtherVersion: {
    means: "a reason of another version, which this version does not know",
    remedy: "run agents, controller and command line in the same version",
  },
} as const satisfies Readonly<Record<string, Reason>>;

/** One of {@linkcode VERSION_REASONS}. */
export type VersionReason = keyof typeof VERSION_REASONS;

/** The lists by the object or event that carries their reasons. */
export const REASON_LISTS = {
  market: MARKET_REASONS,
  bounds: BOUND_REASONS,
  enforcement: ENFORCEMENT_REASONS,
  events: EVENT_REASONS,
  rightsizing: RIGHTSIZING_REASONS,
  rightsizingEvents: RIGHTSIZING_EVENT_REASONS,
  policies: POLICY_REASONS,
  placement: PLACEMENT_REASONS,
  placementEvents: PLACEMENT_EVENT_REASONS,
  versions: VERSION_REASONS,
} as const;

/** Why a limit changes or stays: the market's reason, or the controller's. */
export type ChangeReason = MarketReason | EnforcementReason | VersionReason;

/** The reasons of a list; for a union of lists, those of each. */
export type ReasonsOf<List> = List extends unknown ? keyof List & string : never;

/** Any reason of the lists. */
export type AnyReason = ReasonsOf<typeof REASON_LISTS[keyof typeof REASON_LISTS]>;

/** A reason, and its details in a sentence. */
export interface Cause<R extends AnyReason = AnyReason> {
  readonly reason: R;
  readonly message: string;
}

const REASONS: ReadonlyMap<string, Reason> = new Map(
  Object.values(REASON_LISTS).flatMap((list) => Object.entries<Reason>(list)),
);

/** The meaning of a reason, which a newer version may have written. */
export function sentenceOf(reason: string): string {
  return REASONS.get(reason)?.means ?? "a reason that this version does not know";
}

/** The remedy for a reason; undefined for an unknown reason. */
export function remedyFor(reason: string): string | undefined {
  return REASONS.get(reason)?.remedy;
}

/** The reason where `list` has it, and otherwise `OtherVersion`. */
export function listedReason<T extends string>(
  list: Readonly<Record<T, Reason>>,
  reason: string,
): T | VersionReason {
  return Object.hasOwn(list, reason) ? reason as T : "OtherVersion";
}

/** True for changes without urgency: they come after all others. */
export function isUnhurried(reason: AnyReason): boolean {
  return reason === "DemandFell" || reason === "CPUFree";
}

/** The market's reason, or undefined for none and for one that this version does not know. */
export function knownMarketReason(reason: string | undefined): MarketReason | undefined {
  return reason !== undefined && Object.hasOwn(MARKET_REASONS, reason)
    ? reason as MarketReason
    : undefined;
}
