import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import type { Lease } from "../api/lease.ts";
import { electionStep, observe } from "./election_step.ts";

const LEASE: Lease = {
  metadata: { name: "l", namespace: "n", uid: "u", resourceVersion: "7" },
  holder: "a",
  durationSeconds: 15,
  acquireTimeMs: 1,
  renewTimeMs: 2,
  transitions: 3,
};

const MOMENT = { identity: "b", nowMs: 20_000, wallMs: 99, leaseMs: 15_000 };

pure("electionStep() waits for a record that was seen to change, whatever its times are", () => {
  const state = { lease: LEASE, seenMs: 12_000 };
  assert.deepEqual(electionStep(state, MOMENT), { do: "wait", ms: 7000 });
  const taken = electionStep({ lease: LEASE, seenMs: 5000 }, MOMENT);
  assert.deepEqual(taken, {
    do: "update",
    lease: { ...LEASE, holder: "b", acquireTimeMs: 99, renewTimeMs: 99, transitions: 4 },
  });
});

pure("electionStep() takes a released record, renews its own, creates one", () => {
  const seenMs = MOMENT.nowMs;
  const released = electionStep({ lease: { ...LEASE, holder: "" }, seenMs }, MOMENT);
  assert.ok(released.do === "update" && released.lease.holder === "b");
  const renewed = electionStep({ lease: { ...LEASE, holder: "b" }, seenMs }, MOMENT);
  assert.deepEqual(renewed, { do: "update", lease: { ...LEASE, holder: "b", renewTimeMs: 99 } });
  const created = electionStep({ lease: undefined, seenMs }, MOMENT);
  assert.ok(created.do === "create" && created.lease.transitions === 0);
});

pure("observe() keeps the time of a record that stands still", () => {
  const state = { lease: LEASE, seenMs: 5 };
  assert.equal(observe(state, { lease: { ...LEASE }, nowMs: 9 }).seenMs, 5);
  const metadata = { ...LEASE.metadata, resourceVersion: "8" };
  assert.equal(observe(state, { lease: { ...LEASE, metadata }, nowMs: 9 }).seenMs, 9);
  assert.equal(observe(state, { lease: undefined, nowMs: 9 }).seenMs, 9);
});
