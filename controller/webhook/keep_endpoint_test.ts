import assert from "node:assert/strict";
import { silentLog } from "../../shared/log.ts";
import { seededRandom } from "../../shared/random.ts";
import { createSimulatedAPI } from "../../lab/simulation/api/simulated_api.ts";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import { endpointSpec, keepEndpoint, REPAIR_EVERY_MS } from "./keep_endpoint.ts";
import { endpointSliceName } from "./webhook_objects.ts";

const NAMESPACE = "mbcas-system";
const KEY = `${NAMESPACE}/mbcas-webhook-ipv4`;

function stage() {
  const clock = createVirtualClock({ wallStart: 0 });
  const api = createSimulatedAPI({ clock, random: seededRandom(1) });
  const { EndpointSlice: slices } = api.store.tables;
  const warned: string[] = [];
  const log = { ...silentLog, warn: (message: string) => void warned.push(message) };

  function lead(address: string) {
    const end = new AbortController();
    const store = api.endpointSliceStore({
      namespace: NAMESPACE,
      name: endpointSliceName(address),
    });
    const spec = endpointSpec("mbcas-webhook", { address, port: 9443 });
    const running = keepEndpoint({ store, spec, clock, log }, end.signal);
    return {
      async stop() {
        end.abort();
        await clock.runUntil(clock.monotonic() + 100);
        await running;
      },
    };
  }

  return {
    api,
    slices,
    warned,
    lead,
    run: (ms: number) => clock.runUntil(clock.monotonic() + ms),
    addresses: () => slices.get(KEY)?.endpoints.flatMap(({ addresses }) => addresses),
  };
}

Deno.test("keepEndpoint() writes one ready endpoint, and takes it out at its end", async () => {
  const { slices, lead, run, addresses, api } = stage();
  const leader = lead("10.0.0.1");
  await run(100);
  const { metadata: _metadata, ...spec } = slices.get(KEY)!;
  assert.deepEqual(spec, {
    service: "mbcas-webhook",
    addressType: "IPv4",
    endpoints: [{ addresses: ["10.0.0.1"], ready: true }],
    ports: [{ name: "https", port: 9443 }],
  });
  await run(60_000);
  assert.deepEqual(
    ["create EndpointSlice", "update EndpointSlice"].map((one) => api.requests.get(one) ?? 0),
    [1, 0],
  );
  await leader.stop();
  assert.deepEqual(addresses(), []);
});

Deno.test("keepEndpoint() takes over from the leader before, and repairs what others change", async () => {
  const { slices, lead, run, addresses } = stage();
  const old = lead("10.0.0.1");
  await run(1000);
  await old.stop();
  const next = lead("10.0.0.2");
  await run(100);
  assert.deepEqual(addresses(), ["10.0.0.2"]);
  slices.modify(KEY, (slice) => ({ ...slice, endpoints: [] }));
  await run(REPAIR_EVERY_MS);
  assert.deepEqual(addresses(), ["10.0.0.2"]);
  slices.modify(KEY, (slice) => ({ ...slice, service: "other" }));
  await run(REPAIR_EVERY_MS);
  assert.equal(slices.get(KEY)?.service, "mbcas-webhook");
  slices.remove(KEY);
  await run(REPAIR_EVERY_MS);
  assert.deepEqual(addresses(), ["10.0.0.2"]);
  await next.stop();
});

Deno.test("keepEndpoint() leaves the endpoint of the next leader at its end", async () => {
  const { lead, run, addresses } = stage();
  const old = lead("10.0.0.1");
  await run(REPAIR_EVERY_MS + 1000);
  const next = lead("10.0.0.2");
  await run(100);
  await old.stop();
  assert.deepEqual(addresses(), ["10.0.0.2"]);
  await next.stop();
});

Deno.test("keepEndpoint() tries again after failures, at its end once", async () => {
  const { api, lead, run, addresses, warned } = stage();
  api.failNext({ verb: "create", kind: "EndpointSlice", status: 403, times: 2 });
  const leader = lead("10.0.0.1");
  await run(2000);
  assert.equal(addresses(), undefined);
  await run(REPAIR_EVERY_MS);
  assert.deepEqual([addresses(), warned.length], [["10.0.0.1"], 2]);
  api.failNext({ verb: "get", kind: "EndpointSlice", status: 503 });
  await leader.stop();
  assert.deepEqual([addresses(), warned.length], [["10.0.0.1"], 3]);
});

Deno.test("endpointSpec() and endpointSliceName() go by the family of the address", () => {
  const { addressType, endpoints } = endpointSpec("web", { address: "fd00::2", port: 9443 });
  assert.deepEqual([addressType, endpoints[0]?.addresses], ["IPv6", ["fd00::2"]]);
  assert.equal(endpointSliceName("fd00::2"), "mbcas-webhook-ipv6");
});
