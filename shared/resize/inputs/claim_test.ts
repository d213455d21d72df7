import assert from "node:assert/strict";
import { marketClaim } from "../../../tests/fixtures/market/enforcement_input.ts";
import { type Claim, type ClaimSource, mergeClaims } from "./claim.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function claim(source: ClaimSource, resources: Claim["resources"]): Claim {
  return { ...marketClaim(400), source, resources };
}

test("mergeClaims() gives each value to one source: a restore, a person, the market, rightsizing", () => {
  const market = claim("market", { requests: {}, limits: { cpu: 400 } });
  const manual = claim("manual", { requests: {}, limits: { cpu: 300 } });
  const restore = claim("restore", { requests: {}, limits: { cpu: 200 } });
  const cases: readonly (readonly [Claim[], number])[] = [
    [[market, manual, restore], 200],
    [[market, manual], 300],
    [[market], 400],
  ];
  for (const [claims, limitCPU] of cases) {
    assert.deepEqual(
      mergeClaims(claims),
      new Map([["app", { requests: {}, limits: { cpu: limitCPU } }]]),
    );
  }
  assert.equal(mergeClaims([]).size, 0);
});

test("mergeClaims() merges by field, and keeps containers apart", () => {
  const merged = mergeClaims([
    claim("rightsizing", { requests: { cpu: 150, memory: 64 }, limits: { cpu: 900 } }),
    claim("market", { requests: {}, limits: { cpu: 400 } }),
    { ...claim("rightsizing", { requests: { memory: 32 }, limits: {} }), container: "log" },
  ]);
  assert.deepEqual(
    merged,
    new Map([
      ["app", { requests: { cpu: 150, memory: 64 }, limits: { cpu: 400 } }],
      ["log", { requests: { memory: 32 }, limits: {} }],
    ]),
  );
});
