import { placedPod } from "../../tests/fixtures/placement/placed_pods.ts";
import { readStatus } from "../../shared/placement/status.ts";
import { silentLog } from "../../shared/log.ts";
import { assertSentences } from "../../tests/fixtures/assert_sentences.ts";
import { manualCaches } from "../../tests/fixtures/placement/placement_caches.ts";
import { PLACEMENT_DEFAULTS } from "../../tests/fixtures/placement/placement_defaults.ts";
import { createWebhookView } from "./caches.ts";
import type { PlacementResult } from "./reconcile.ts";
import { createPlacementWarner } from "./mutators.ts";
import { createPlacementReporter } from "./reporter.ts";

const WEB = { kind: "Deployment", namespace: "shop", name: "web", uid: "u1" } as const;

/** Reason and message of the last event after these results. */
function eventAfter(...results: readonly Partial<PlacementResult>[]): string {
  let last = "";
  const emit = ({ reason, message }: { reason: string; message: string }): void => {
    last = `${reason}: ${message}`;
  };
  const { reconciled } = createPlacementReporter({ events: { emit }, log: silentLog });
  const counts = { spot: 1, "on-demand": 2 };
  for (const changes of results) {
    reconciled(WEB, {
      decision: { wait: "AsSpecified", message: "" },
      evictions: [],
      shortage: { unplaced: [] },
      replicas: { actual: counts, desired: counts, floor: 0, pendingMs: 0 },
      status: readStatus(""),
      requeueAfterMs: Infinity,
      ...changes,
    }, 0);
  }
  return last;
}

Deno.test({
  name: "sentences of events of placement",
  permissions: "none",
  fn() {
    const pod = placedPod("web-1");
    const began = { sinceMs: 0, untilMs: 120_000, rounds: 1 };
    const remade = { ...began, remade: { atMs: 1, count: 1 } };
    const evicted = { pod, why: "to spot", answer: { is: "evicted" } } as const;
    const blocked = { pod, why: "to spot", answer: { is: "blocked", message: "no" } } as const;
    return assertSentences([
      [
        "fallback",
        () => eventAfter({ shortage: { after: began, unplaced: [] } }),
        "SpotFallback: until 1970-01-01T00:02:00.000Z",
      ],
      [
        "pod for spot in a fallback",
        () => eventAfter({ shortage: { before: remade, after: remade, unplaced: [pod] } }),
        "SpotFallback: pod web-1 was made for spot in it: is the webhook asked?",
      ],
      [
        "end of a fallback",
        () => eventAfter({ shortage: { before: began, unplaced: [] } }),
        "SpotReturned: 1 on spot, 2 on on-demand nodes",
      ],
      [
        "move",
        () => eventAfter({ decision: { move: { pod, to: "spot" } }, evictions: [evicted] }),
        "PodRescheduled: pod web-1 moves to spot",
      ],
      [
        "end of moves",
        () => eventAfter({ evictions: [evicted] }, {}),
        "ReconciliationSuccess: 1 on spot, 2 on on-demand nodes",
      ],
      ["refusal", () => eventAfter({ evictions: [blocked] }), "BlockedByPDB: pod web-1: no"],
    ]);
  },
});

Deno.test("sentences of warnings of placement", () => {
  const warner = createPlacementWarner({
    view: createWebhookView(manualCaches(), {
      settings: () => PLACEMENT_DEFAULTS,
      evicted: new Set(),
    }),
    settings: () => PLACEMENT_DEFAULTS,
  });
  const annotations = { "spotalis.io/enabled": "true", "spotalis.io/spot-percentage": "most" };
  return assertSentences([
    [
      "workload with faults",
      async () => {
        const mutation = await warner.mutate({
          uid: "1",
          kind: "Deployment",
          resource: "deployments",
          operation: "CREATE",
          namespace: "shop",
          name: "web",
          dryRun: false,
          object: { metadata: { name: "web", annotations }, spec: {} },
        }, new AbortController().signal);
        return mutation?.warnings?.[0] ?? "";
      },
      "placement leaves the pods of Deployment web as they are",
    ],
  ]);
});
