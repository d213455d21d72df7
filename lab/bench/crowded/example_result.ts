/**
 * A short run in which all is as it should be, for tests.
 *
 * @module
 */
import type { CrowdResult } from "./crowd_result.ts";

/** The run. */
export const EXAMPLE: CrowdResult = {
  law: "with",
  seed: 1,
  seconds: 60,
  at: "2026-01-01T00:00:00.000Z",
  kernel: "6.18",
  writes: {
    byKind: [{ what: "accepted", count: 40 }, { what: "conflict", count: 1 }],
    notAccepted: [{
      atS: 3,
      user: "controller",
      pod: "worker-1",
      code: 409,
      kind: "conflict",
      message: "modified",
    }],
    ofOptedOut: 0,
    byCode: [{ what: "200", count: 40 }, { what: "409", count: 1 }],
    outcomes: [{ what: "accepted Throttled", count: 40 }],
    held: [],
    lostControllers: 0,
    events: [],
  },
  quotas: [{
    place: "shop",
    limits: [900, 1000],
    used: [900, 1000],
    hard: [1000, 1000],
    usedRequests: [300, 300],
    hardRequests: [400, 400],
  }],
  objects: { before: 300, after: 302, differences: [], optedOutSame: true },
  neverReady: { spec: [], kernel: [] },
  bounds: ["QuotaExceeded", "LimitRange", "HPAFloor", "PodNotReady"].map((what) => ({
    what,
    count: 1,
  })),
  replicas: [
    { atS: 0, wanted: 1, ready: 1 },
    { atS: 30, wanted: 4, ready: 3 },
    { atS: 60, wanted: 4, ready: 4 },
  ],
  notCreated: [],
  figures: {
    throttledMsPerS: 120,
    changesPerMinute: 38,
    coresAllocated: 1.8,
    coresUsed: 0.8,
    othersCores: 0.4,
  },
  performers: ["worker-0", "worker-1", "unready"].map((name, index) => ({
    name,
    ownLimit: 100,
    meanLimit: 110 + index,
    mostLimit: 200,
    usedMsPerS: 40,
    throttledMsPerS: 20 + index,
    requests: 500,
    completed: 500,
    p50Ms: 10,
    p99Ms: 200,
  })),
};
