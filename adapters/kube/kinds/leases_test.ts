import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { parseLease } from "./leases.ts";

const metadata = { name: "a", namespace: "shop", uid: "u", resourceVersion: "1" };

pure("parseLease() reads a Lease, and one without a holder", () => {
  const spec = {
    holderIdentity: "a",
    leaseDurationSeconds: 15,
    acquireTime: "1970-01-01T00:00:01.000000Z",
    renewTime: "1970-01-01T00:00:02.250000Z",
    leaseTransitions: 4,
  };
  assert.deepEqual(parseLease({ metadata, spec }), {
    metadata,
    holder: "a",
    durationSeconds: 15,
    acquireTimeMs: 1000,
    renewTimeMs: 2250,
    transitions: 4,
  });
  assert.deepEqual(parseLease({ metadata, spec: {} }), {
    metadata,
    holder: "",
    durationSeconds: 0,
    acquireTimeMs: undefined,
    renewTimeMs: undefined,
    transitions: 0,
  });
});
