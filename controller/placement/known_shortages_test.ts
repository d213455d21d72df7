import assert from "node:assert/strict";
import type { PlacementMemory } from "../../shared/placement/placement_memory.ts";
import { createVirtualClock } from "../../simulation/virtual_clock.ts";
import { createKnownShortages } from "./known_shortages.ts";

const WEB = {
  kind: "Deployment" as const,
  namespace: "shop",
  name: "web",
  uid: "w",
  replicas: 3,
  labels: {},
  annotations: {},
};

Deno.test("createKnownShortages() tells what the newest book remembers of this very workload", async () => {
  const clock = createVirtualClock({ wallStart: 1000 });
  const { shortageOf, follow } = createKnownShortages(clock);
  assert.equal(shortageOf(WEB), "none");
  const bookWith = (memory: PlacementMemory) => ({
    memoryOf: ({ metadata: { uid } }: { readonly metadata: { readonly uid: string } }) =>
      uid === "w" ? memory : {},
  });
  follow(bookWith({ shortage: { untilMs: 3000, rounds: 1 } }));
  assert.equal(shortageOf(WEB), "fallback");
  assert.equal(shortageOf({ ...WEB, uid: "anew" }), "none");
  await clock.runUntil(2000);
  assert.equal(shortageOf(WEB), "returning");
  follow(bookWith({}));
  assert.equal(shortageOf(WEB), "none");
});
