/**
 * The webhook of a leader over TLS on 127.0.0.1, in a thread of its own with a heap of its own. Its copies
 * are what it is sent.
 *
 * @module
 */
import { systemClock as clock } from "../../../adapters/system_clock.ts";
import { admissionRoutes } from "../../../adapters/webhook/admission_routes.ts";
import type { KeyedCertificate } from "../../../adapters/webhook/certificates.ts";
import { serveWebhook } from "../../../adapters/webhook/webhook_server.ts";
import { createWebhookView } from "../../../controller/placement/caches.ts";
import { createPlacementMutator } from "../../../controller/placement/mutators.ts";
import { createAdmissionDecider } from "../../../controller/placement/admission.ts";
import type { Pod } from "../../../shared/api/pod.ts";
import { silentLog as log } from "../../../shared/log.ts";
import { manualCaches, webDeployment } from "../../../tests/fixtures/placement/placement_caches.ts";
import { PLACEMENT_DEFAULTS } from "../../../tests/fixtures/placement/placement_defaults.ts";
import { answerInThread } from "../../task/thread.ts";
import { memoryAfterGC } from "../bench.ts";

/**
 * A message to the leader: first to start, which it answers with its address, then the events of its
 * copies, and a question about its memory once its garbage is gone.
 */
export type ToLeader =
  | { readonly start: KeyedCertificate; readonly pods: number }
  | { readonly put: Pod }
  | { readonly remove: Pod }
  | { readonly memory: true };

const copies = manualCaches();

async function start(certificate: KeyedCertificate): Promise<string> {
  const settings = () => PLACEMENT_DEFAULTS;
  const view = createWebhookView(copies, { settings, evicted: new Set() });
  const parts = { view, settings, clock, log };
  const decider = createAdmissionDecider({ ...parts, shortageOf: () => "none" });
  const observer = { admitted: () => {}, answered: () => {} };
  const mutators = [createPlacementMutator({ ...parts, decider, observer })];
  const app = admissionRoutes({ routes: ["/mutate/pods"], mutators, clock, log, observer });
  const { address } = await serveWebhook(app, { address: "127.0.0.1:0", certificate });
  await decider.whenSettled(new AbortController().signal);
  return address;
}

answerInThread((message: ToLeader) => {
  if ("put" in message) return copies.pods.put(message.put);
  if ("remove" in message) return copies.pods.remove(message.remove);
  if ("memory" in message) return memoryAfterGC();
  copies.deployments.put(webDeployment(message.pods));
  return start(message.start);
});
