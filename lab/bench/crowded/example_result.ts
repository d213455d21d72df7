/**
 * A short run that meets all goals, for tests.
 *
 * @module
 */
import type { CrowdResult } from "./verdicts.ts";

const ACCEPTED = { atS: 1, kind: "accepted", isOfOptedOut: false, message: "" } as const;

/** The run: 38 changes and a conflict in a minute. */
export const EXAMPLE: CrowdResult = {
  ...{ seed: 1, seconds: 60 },
  answers: [
    ...Array.from({ length: 38 }, () => ACCEPTED),
    { atS: 3, kind: "conflict", isOfOptedOut: false, message: "modified" },
  ],
  outcomes: [{ what: "accepted Throttled", count: 38 }],
  quotas: [900, 1000].map((limits, atS) => ({
    ...{ place: "shop", atS, limits, used: limits, hard: 1000 },
    ...{ usedRequests: 300, hardRequests: 400 },
  })),
  objects: { before: 300, after: 302, differences: [], isOptedOutSame: true },
  lowerings: { spec: [], kernel: [] },
  bounds: ["QuotaExceeded", "LimitRange", "HPAFloor", "PodNotReady"].map((what) => ({
    what,
    count: 1,
  })),
  replicas: [{ atS: 0, wanted: 1, ready: 1 }, { atS: 30, wanted: 4, ready: 3 }],
  performers: ["worker-0", "unready"].map((name) => ({
    ...{ name, originalLimit: 100, meanLimit: 110, mostLimit: 200 },
  })),
};
