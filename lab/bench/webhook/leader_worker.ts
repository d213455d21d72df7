/**
 * The webhook of a leader over TLS on 127.0.0.1, in a thread of its own. Its copies are what it is sent.
 *
 * @module
 */
/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
import { systemClock as clock } from "../../../adapters/system_clock.ts";
import { admissionRoutes } from "../../../adapters/webhook/admission_routes.ts";
import type { KeyedCertificate } from "../../../adapters/webhook/certificates.ts";
import { serveWebhook } from "../../../adapters/webhook/webhook_server.ts";
import { createWebhookView } from "../../../controller/placement/caches.ts";
import { createPlacementMutator } from "../../../controller/placement/mutators.ts";
import { createAdmissionDecider } from "../../../controller/placement/admission.ts";
import { silentLog as log } from "../../../shared/log.ts";
import { manualCaches, webDeployment } from "../../../tests/fixtures/placement/placement_caches.ts";
import { PLACEMENT_DEFAULTS } from "../../../tests/fixtures/placement/placement_defaults.ts";
import { memoryAfterGC } from "../memory.ts";
import { ROUTE, type ToLeader } from "./leader.ts";

const copies = manualCaches();

async function start(certificate: KeyedCertificate): Promise<void> {
  const settings = () => PLACEMENT_DEFAULTS;
  const view = createWebhookView(copies, { settings, evicted: new Set() });
  const parts = { view, settings, clock, log };
  const decider = createAdmissionDecider({ ...parts, shortageOf: () => "none" });
  const observer = { admitted: () => {}, answered: () => {} };
  const mutator = createPlacementMutator({ ...parts, decider, observer });
  const app = admissionRoutes({ routes: [ROUTE], mutators: [mutator], clock, log, observer });
  const { address } = await serveWebhook(app, { address: "127.0.0.1:0", certificate });
  await decider.whenSettled(new AbortController().signal);
  self.postMessage(address);
}

async function receive(message: ToLeader): Promise<void> {
  switch (message.kind) {
    case "start":
      copies.deployments.put(webDeployment(message.pods));
      return await start(message.serving);
    case "put":
      return copies.pods.put(message.pod);
    case "remove":
      return copies.pods.remove(message.pod);
    case "memory":
      return self.postMessage(await memoryAfterGC());
  }
}

self.onmessage = ({ data }: MessageEvent<ToLeader>) => receive(data);
