import assert from "node:assert/strict";
import { ApiError } from "../../shared/api/api_error.ts";
import { silentLog } from "../../shared/log.ts";
import type { PlacementStatus } from "../../shared/placement/status.ts";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import { keptCheckpoints } from "../../tests/fixtures/rightsizing/kept_checkpoints.ts";
import { createStatusPublisher } from "./publisher.ts";

const WEB = { kind: "Deployment", namespace: "shop", name: "web" } as const;
const POD = { name: "x".repeat(100_000), revision: "", node: "", ready: true, notes: [] };
const OFF = status("LeftAlone", { reason: "PlacementOff" });

function status(
  phase: PlacementStatus["phase"],
  more: Partial<PlacementStatus> = {},
): PlacementStatus {
  return { phase, revisions: [], pods: [], ...more };
}

function stage() {
  const clock = createVirtualClock({ wallStart: 0 });
  const store = keptCheckpoints();
  const end = new AbortController();
  const warned: string[] = [];
  const log = { ...silentLog, warn: (message: string) => void warned.push(message) };
  const open = () => {
    const publisher = createStatusPublisher({ store, clock, log });
    void publisher.run(end.signal);
    return publisher;
  };
  /** The phases in a ConfigMap after the next write. */
  const phases = async (namespace = "shop"): Promise<Readonly<Record<string, unknown>>> => {
    await clock.runUntil(clock.monotonic() + 2000);
    const { data = {} } = store.kept.get(`mbcas-placement-${namespace}`) ?? {};
    return Object.fromEntries(
      Object.entries(data).map(([key, text]) => [key, JSON.parse(text).phase]),
    );
  };
  return { store, open, phases, warned, stop: () => end.abort() };
}

Deno.test("createStatusPublisher() writes a namespace when a status changes, and only then", async () => {
  const { store, open, phases, stop } = stage();
  const publisher = open();
  publisher.publish(WEB, status("Cooldown"));
  publisher.publish({ ...WEB, name: "api" }, OFF);
  publisher.publish({ ...WEB, namespace: "far" }, OFF);
  assert.deepEqual(await phases(), { "Deployment.api": "LeftAlone", "Deployment.web": "Cooldown" });
  publisher.publish(WEB, status("Cooldown"));
  await phases();
  // A namespace that placement does not concern has none.
  assert.deepEqual(store.writes, ["apply mbcas-placement-shop"]);
  publisher.publish(WEB, status("Converging"));
  assert.equal((await phases())["Deployment.web"], "Converging");
  stop();
});

Deno.test("createStatusPublisher() keeps statuses of the former leader until they are replaced", async () => {
  const { store, open, phases, stop } = stage();
  const former = open();
  for (const name of ["web", "old", "api"]) former.publish({ ...WEB, name }, status("Paused"));
  await phases();
  const next = open();
  next.publish(WEB, status("Cooldown"));
  const { "Deployment.web": web, ...others } = await phases();
  assert.deepEqual([web, Object.keys(others)], ["Cooldown", ["Deployment.api", "Deployment.old"]]);
  next.retain((namespace, key) => namespace === "shop" && key === "Deployment.web");
  assert.deepEqual(await phases(), { "Deployment.web": "Cooldown" });
  next.retain(() => false);
  await phases();
  assert.equal(store.kept.size, 0);
  stop();
});

Deno.test("createStatusPublisher() retries failed writes, and logs the first of a row", async () => {
  const { store, open, phases, warned, stop } = stage();
  store.refusal = new ApiError(503, "", "busy");
  open().publish(WEB, status("Cooldown"));
  await phases();
  assert.deepEqual(await phases(), {});
  assert.equal(warned.length, 1);
  store.refusal = undefined;
  assert.deepEqual(await phases(), { "Deployment.web": "Cooldown" });
  stop();
});

Deno.test("createStatusPublisher() leaves pods out that a ConfigMap has no room for", async () => {
  const { store, open, phases, stop } = stage();
  const pods = Array.from({ length: 10 }, () => ({ ...POD, class: "spot" as const }));
  open().publish(WEB, status("Cooldown", { pods, message: "so" }));
  await phases();
  const text = store.kept.get("mbcas-placement-shop")?.data["Deployment.web"] ?? "";
  assert.deepEqual(JSON.parse(text), status("Cooldown", { message: "so" }));
  stop();
});
