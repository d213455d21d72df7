import assert from "node:assert/strict";
import { assertMatches } from "../tests/fixtures/assert_matches.ts";
import { type CheckedAddresses, listenFaults } from "./listen_faults.ts";

const APART: CheckedAddresses = {
  listen: ":8080",
  webhook: true,
  webhookListen: ":9443",
};

Deno.test("listenFaults() names both keys of servers that have one port, if both are on", () => {
  assert.deepEqual(listenFaults(APART), []);
  assertMatches(listenFaults({ ...APART, listen: "127.0.0.1:9443" }), [
    /^controller\.listen is 127\.0\.0\.1:9443 and webhook\.listen is :9443: /,
  ]);
  const same = { ...APART, webhookListen: "0.0.0.0:08080" };
  assert.equal(listenFaults(same).length, 1);
  assert.deepEqual(listenFaults({ ...same, webhook: false }), []);
});

Deno.test("listenFaults() lets different hosts, and servers that take a free port, be", () => {
  const hosts = { listen: "127.0.0.1:9443", webhookListen: "10.0.0.1:9443" };
  assert.deepEqual(listenFaults({ ...APART, ...hosts }), []);
  assert.deepEqual(listenFaults({ ...APART, listen: ":0", webhookListen: ":0" }), []);
});
