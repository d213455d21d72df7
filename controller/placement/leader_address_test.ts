import assert from "node:assert/strict";
import { addressedIdentity, addressOfHolder, peerAddress } from "./leader_address.ts";

Deno.test("addressOfHolder() reads what addressedIdentity() wrote", () => {
  for (const address of ["10.0.0.2:9444", "[fd00::2]:9444"]) {
    assert.equal(addressOfHolder(addressedIdentity("controller-1a2b3c4d", address)), address);
  }
});

Deno.test("addressOfHolder() finds none in other names", () => {
  for (const holder of ["", "controller-1", "a@", "a@10.0.0.2", "a@10.0.0.2:9444/x", "a@b@c:1"]) {
    assert.equal(addressOfHolder(holder), undefined, holder);
  }
});

Deno.test("peerAddress() joins the address with the port, wherever the replica listens", () => {
  assert.equal(peerAddress("10.0.0.2", ":9444"), "10.0.0.2:9444");
  assert.equal(peerAddress("fd00::2", "[::]:9444"), "[fd00::2]:9444");
});
