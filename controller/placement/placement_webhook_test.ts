import assert from "node:assert/strict";
import { systemClock } from "../../adapters/system_clock.ts";
import type { Lease } from "../../shared/api/lease.ts";
import type { Log } from "../../shared/log.ts";
import { handCopies, PLACEMENT_RULES, podRequest } from "../../tests/fixtures/placement_copies.ts";
import { certificateChain, SERVICE_NAME } from "../../tests/fixtures/shared_certificates.ts";
import { createCopiedFacts } from "./copied_facts.ts";
import { addressedIdentity } from "./leader_address.ts";
import { createPlacementWebhook } from "./placement_webhook.ts";
import { createTLSPeerLink } from "./tls_peer_link.ts";
import type { PlacementFact } from "./webhook_ports.ts";

Deno.test("createPlacementWebhook() lets replicas have one counter, while one of them leads", async () => {
  const chain = await certificateChain("one", systemClock.wall());
  const addresses: string[] = [];
  const log: Log = {
    debug: () => {},
    info: (_message, fields) => void addresses.push(String(fields?.["address"])),
    warn: assert.fail,
    error: assert.fail,
  };
  const seen: { lease?: Lease } = {};
  const told: PlacementFact[] = [];
  const copies = handCopies();
  const replicas = [0, 1].map((number) =>
    createPlacementWebhook({
      facts: createCopiedFacts(copies, { rules: () => PLACEMENT_RULES }),
      rules: () => PLACEMENT_RULES,
      shortageOf: () => "none",
      observer: { answered: (fact) => told.push(fact) },
      lease: () => seen.lease,
      identity: `controller-${number}`,
      link: createTLSPeerLink({ peerListen: "127.0.0.1:0", serverName: SERVICE_NAME, log }),
      clock: systemClock,
      log,
    }, { settleMs: 0, peerWithinMs: 10_000 })
  );
  for (const { peers } of replicas) {
    await peers.believe(chain.authority.cert);
    await peers.use(chain.serving);
  }
  let asked = 0;
  const admit = async (): Promise<string> => {
    const signal = new AbortController().signal;
    const { mutators } = replicas[asked % replicas.length]!;
    const request = podRequest(`${asked++}`);
    for (const mutator of mutators) await mutator.mutate(request, signal);
    const { result, class: to } = told.at(-1)!;
    return to ?? result;
  };
  assert.deepEqual([await admit(), await admit()], ["NoLeader", "NoLeader"]);

  const term = new AbortController();
  await replicas[1]!.lead(term.signal);
  seen.lease = {
    metadata: { name: "l", namespace: "n", uid: "u", resourceVersion: "1" },
    holder: addressedIdentity("controller-1", addresses[1]!),
    durationSeconds: 600,
    acquireTimeMs: 0,
    renewTimeMs: 0,
    transitions: 0,
  };
  const classes: string[] = [];
  for (let pod = 0; pod < 10; pod++) classes.push(await admit());
  assert.equal(classes.filter((one) => one === "spot").length, 7, classes.join());
  term.abort();
  assert.deepEqual(await admit(), "NoLeader");
  for (const { peers } of replicas) await peers.shutdown();
});
