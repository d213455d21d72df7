import assert from "node:assert/strict";
import {
  clampsOf,
  MI,
  outcomeOf,
  recommendation,
  rightsizingFacts,
} from "../../../tests/fixtures/rightsizing_facts.ts";
import type { QuotaRoom } from "./rightsizing_facts.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const LIMITS = { updateRequestsOnly: false };

function room(of: "request" | "limit", amount: number): QuotaRoom {
  return { name: "q", resource: "cpu", of, room: amount };
}

test("overQuotas() cuts raises to what the quota leaves for all pods together", () => {
  assert.equal(
    outcomeOf({ quotas: [room("request", 100)] }),
    "InPlace: app cpu 150m, app memory 96Mi",
  );
  assert.equal(
    outcomeOf({ quotas: [room("request", 60)] }),
    "InPlace: app cpu 130m, app memory 96Mi",
  );
  assert.match(
    clampsOf({ quotas: [room("request", 60)] }).join(),
    / QuotaExceeded: ResourceQuota q .*60m of requests\.cpu .*100m .*2 pods/,
  );
});

test("overQuotas() heeds quotas on limits and on memory, and cuts a request with its limit", () => {
  const recommendations = [recommendation({ cpu: 300, cpuLimit: 400 })];
  assert.equal(
    outcomeOf({ recommendations, strategy: LIMITS, quotas: [room("limit", 100)] }),
    "InPlace: app cpu 250m (limit 250m), app memory 96Mi (limit 112Mi)",
  );
  const memory: QuotaRoom = { name: "q", resource: "memory", of: "request", room: 32 * MI };
  assert.equal(outcomeOf({ quotas: [memory] }), "InPlace: app cpu 150m, app memory 80Mi");
});

test("overQuotas() lets decreases pass, and holds where nothing else is left", () => {
  const less = [recommendation({ cpu: 50, memory: 32 * MI })];
  const quotas = [room("request", -500)];
  assert.equal(
    outcomeOf({ recommendations: less, quotas }),
    "InPlace: app cpu 50m, app memory 32Mi",
  );
  const more = [recommendation({ memory: 64 * MI })];
  assert.match(
    outcomeOf({ recommendations: more, quotas }),
    /^OverQuotas QuotaExceeded: .* 0 of requests\.cpu /,
  );
});

test("overQuotas() counts the replicas of a workload whose template changes", () => {
  const { workload } = rightsizingFacts();
  const strategy = { allowInPlaceResize: false, allowRecreate: true };
  const five = { workload: { ...workload, replicas: 5 }, strategy };
  assert.equal(
    outcomeOf({ ...five, quotas: [room("request", 100)] }),
    "Recreate: app cpu 120m, app memory 96Mi",
  );
  assert.match(outcomeOf({ ...five, quotas: [room("request", 250)] }), /app cpu 150m/);
});
