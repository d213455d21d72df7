/**
 * The webhook of a leader over TLS on 127.0.0.1, in a process of its own, as in a cluster. Its copies are
 * what it is sent on its standard input, a message a line.
 *
 * @module
 */
import { createJSONLines } from "../../../adapters/kube/client/http_connection.ts";
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
import { type FromLeader, ROUTE, type ToLeader } from "./leader.ts";

const send = (message: FromLeader): void => console.log(JSON.stringify(message));
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
  send({ kind: "started", address });
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
      return send({ kind: "memory", use: await memoryAfterGC() });
  }
}

const lines = createJSONLines();
for await (const chunk of Deno.stdin.readable) {
  for (const message of lines.take(chunk)) await receive(message as ToLeader);
}
Deno.exit();
