/**
 * The reason in place of one that this version does not know.
 *
 * @module
 */
import type { Reason } from "./reason.ts";

/** Replaces reasons of another version, so that events and metrics have those of the lists only. */
export const VERSION_REASONS = {
  OtherVersion: {
    means: "a reason of another version of the product, which this one does not know",
    remedy: "bring agents, controller and command line to the same version",
  },
} as const satisfies Readonly<Record<string, Reason>>;

/** One of {@linkcode VERSION_REASONS}. */
export type VersionReason = keyof typeof VERSION_REASONS;
