import assert from "node:assert/strict";
import { Registry } from "prom-client";
import { effectiveSettings } from "../../shared/config/effective_settings.ts";
import type { Log } from "../../shared/log.ts";
import { seededRandom } from "../../shared/random.ts";
import { cacheSources } from "../../simulation/api/cache_sources.ts";
import { createSimulatedAPI } from "../../simulation/api/simulated_api.ts";
import { createVirtualClock } from "../../simulation/virtual_clock.ts";
import { keptCheckpoints } from "../../tests/fixtures/kept_checkpoints.ts";
import { createCaches } from "../allocation/caches.ts";
import { CONTROLLER_SETTINGS } from "../settings.ts";
import { startPlacement } from "./start_placement.ts";
import type { TLSPeerLinkOptions } from "./tls_peer_link.ts";

function started(flags: Readonly<Record<string, string>>) {
  const effective = effectiveSettings(CONTROLLER_SETTINGS, {
    flags: new Map(Object.entries({ "--placement": "on", ...flags })),
  });
  assert.ok("values" in effective);
  const warned: string[] = [];
  const log: Log = {
    debug: () => {},
    info: () => {},
    warn: (message, fields) => void warned.push(`${message} ${fields?.["reason"] ?? ""}`.trim()),
    error: assert.fail,
  };
  const options = { clock: createVirtualClock({ wallStart: 0 }), random: seededRandom(1), log };
  const api = createSimulatedAPI(options);
  const links: TLSPeerLinkOptions[] = [];
  const never = () => Promise.reject(new Error("Cannot ask: nobody is there"));
  const peers = { believe: never, use: never, shutdown: never };
  const placement = startPlacement({
    ...options,
    api: {
      sources: {
        replicaSets: api.listWatch("ReplicaSet"),
        budgets: api.listWatch("PodDisruptionBudget"),
        volumes: api.listWatch("PersistentVolume"),
      },
      evictor: api.podEvictor,
      costs: api.deletionCostWriter,
      store: keptCheckpoints(),
      events: { emit() {} },
    },
    caches: createCaches(cacheSources(api), options),
    settings: () => effective.values,
    registry: new Registry(),
    identity: "controller-0",
    linkPeers(given) {
      links.push(given);
      return { client: { ask: never, forget() {} }, serve: () => peers };
    },
  });
  return { ...placement, warned, links, peers };
}

Deno.test("startPlacement() puts the address at which others ask into the name in the Lease", () => {
  for (
    const [ip, identity] of [
      ["10.0.0.2", "controller-0@10.0.0.2:9999"],
      ["fd00::2", "controller-0@[fd00::2]:9999"],
    ] as const
  ) {
    const flags = { "--webhook": "on", "--pod-ip": ip, "--peer-listen": "0.0.0.0:9999" };
    const { replica, links, warned, peers, ...placement } = started(flags);
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
  const alone = started({ "--pod-ip": "10.0.0.2" });
  assert.deepEqual([alone.identity, alone.replica.mutators, alone.links], [
    "controller-0",
    [],
    [],
  ]);
  assert.deepEqual(alone.warned, [
    "Placement without the webhook: new pods are made as they are sent, and moved one by one",
  ]);
  const nowhere = started({ "--webhook": "on" });
  assert.equal(nowhere.identity, "controller-0");
  assert.equal(nowhere.replica.mutators.at(-1)?.name, "placement");
  assert.deepEqual(nowhere.warned, [
    "Only the leader places new pods: other replicas can't ask it POD_IP is not set",
  ]);
});
