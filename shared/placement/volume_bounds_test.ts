import assert from "node:assert/strict";
import { volumeBounds } from "./volume_bounds.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

test("volumeBounds() has those of volumes that there are, by the namespace's claims", () => {
  const metadata = { name: "pv", uid: "pv", resourceVersion: "1" };
  const nodes = [[{ key: "zone", operator: "In", values: ["a"] }]] as const;
  const volumes = [
    { metadata, claim: "shop/data", nodes },
    { metadata, claim: "shop/anywhere" },
    { metadata, claim: "bank/logs", nodes },
  ];
  const claims = ["data", "anywhere", "logs", "new"];
  const found = volumeBounds(
    { namespace: "shop", claims },
    (claim) => volumes.filter((one) => one.claim === claim),
  );
  assert.deepEqual(found, [{ what: "its volume data", terms: nodes }]);
});
