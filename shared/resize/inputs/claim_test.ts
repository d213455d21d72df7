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
  const market = claim("market", { limitCPU: 400 });
  const manual = claim("manual", { limitCPU: 300 });
  const restore = claim("restore", { limitCPU: 200 });
  const cases: readonly (readonly [Claim[], number])[] = [
    [[market, manual, restore], 200],
    [[market, manual], 300],
    [[market], 400],
  ];
  for (const [claims, limitCPU] of cases) {
    assert.deepEqual(mergeClaims(claims), new Map([["app", { limitCPU }]]));
  }
  assert.equal(mergeClaims([]).size, 0);
});

test("mergeClaims() merges by field, and keeps containers apart", () => {
  const merged = mergeClaims([
    claim("rightsizing", { requestCPU: 150, limitCPU: 900, requestMemory: 64 }),
    claim("market", { limitCPU: 400 }),
    { ...claim("rightsizing", { requestMemory: 32 }), container: "log" },
  ]);
  assert.deepEqual(
    merged,
    new Map([
      ["app", { requestCPU: 150, limitCPU: 400, requestMemory: 64 }],
      ["log", { requestMemory: 32 }],
    ]),
  );
});
