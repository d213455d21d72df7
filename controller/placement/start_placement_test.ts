import assert from "node:assert/strict";
import { startedPlacement } from "../../tests/fixtures/started_placement.ts";

Deno.test("startPlacement() puts the address at which others ask into the name in the Lease", () => {
  for (
    const [ip, identity] of [
      ["10.0.0.2", "controller-0@10.0.0.2:9999"],
      ["fd00::2", "controller-0@[fd00::2]:9999"],
    ] as const
  ) {
    const flags = { "--webhook": "on", "--pod-ip": ip, "--peer-listen": "0.0.0.0:9999" };
    const { replica, links, warned, peers, ...placement } = startedPlacement(flags);
    assert.equal(placement.identity, identity);
    assert.deepEqual(replica.mutators.map(({ name }) => name), [
      "placement of workloads",
      "placement",
    ]);
    assert.equal(replica.peers, peers);
    assert.deepEqual(links.map(({ peerListen, serverName }) => [peerListen, serverName]), [
      ["0.0.0.0:9999", "mbcas-webhook.mbcas-system.svc"],
    ]);
    assert.deepEqual(warned, []);
  }
});

Deno.test("startPlacement() says once what does not go without webhook and address", () => {
  const alone = startedPlacement({ "--pod-ip": "10.0.0.2" });
  assert.deepEqual([alone.identity, alone.replica.mutators, alone.links], [
    "controller-0",
    [],
    [],
  ]);
  assert.deepEqual(alone.warned.map(([, fields]) => fields), [{ setting: "webhook.enabled" }]);
  const nowhere = startedPlacement({ "--webhook": "on" });
  assert.equal(nowhere.identity, "controller-0");
  assert.equal(nowhere.replica.mutators.at(-1)?.name, "placement");
  assert.deepEqual(nowhere.warned.map(([, { reason }]) => reason), ["POD_IP is not set"]);
});
