/**
 * The contract suites of the webhook's ports, against what stands for them in tests, and against the
 * adapters with a server of canned rules.
 */
import { listOf, objectOf } from "../../adapters/kube/client/json_fields.ts";
import {
  createEndpointSliceStore,
  createSecretStore,
  createTrustStore,
} from "../../adapters/kube/writers/webhook_stores.ts";
import {
  createCertificateMaker,
  createCertificateReader,
} from "../../adapters/webhook/certificates.ts";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import { serveWebhookObjects } from "../fixtures/webhook/canned_webhook_objects.ts";
import { createPaperCertificates } from "../fixtures/webhook/paper_certificates.ts";
import { createWebhookObjects } from "../fixtures/webhook/webhook_objects.ts";
import { certificateContract } from "./certificate_contract.ts";
import { certificateStoreContract } from "./certificate_store_contract.ts";
import type { ContractHarness } from "./support/contract_harness.ts";
import { endpointSliceContract } from "./endpoint_slice_contract.ts";
import { settleVirtually } from "./support/settle_virtually.ts";
import { trustStoreContract } from "./trust_store_contract.ts";

function scene(webhooks: readonly string[] = []) {
  const clock = createVirtualClock({ wallStart: Date.UTC(2026, 0, 1) });
  const objects = createWebhookObjects({ clock, webhooks });
  const harness: ContractHarness = {
    settle: (promise) => settleVirtually(clock, promise),
  };
  return { clock, objects, harness };
}

certificateStoreContract(() => {
  const { objects, harness } = scene();
  return { ...harness, subject: objects.store };
});

const WEBHOOKS = ["a.mbcas.io", "b.mbcas.io"];

/** A server, closed with its harness. */
function served() {
  const server = serveWebhookObjects({ name: "mbcas-webhook", webhooks: WEBHOOKS });
  return { server, close: async () => await server[Symbol.asyncDispose]() };
}

certificateStoreContract(() => {
  const { server, ...harness } = served();
  const place = { namespace: "mbcas-system", name: "mbcas-webhook-certificates", labels: {} };
  return { ...harness, subject: createSecretStore(server.connection, place) };
});

endpointSliceContract(() => {
  const { server, ...harness } = served();
  const place = { namespace: "mbcas-system", name: "mbcas-webhook-ipv4", labels: {} };
  const subject = createEndpointSliceStore(server.connection, place);
  return { ...harness, subject };
});

trustStoreContract(() => {
  const { server, ...harness } = served();
  const rest = (): unknown => {
    const { metadata, webhooks } = objectOf(server.configuration());
    const { resourceVersion: _version, ...identity } = objectOf(metadata);
    const hooks = listOf(webhooks).map((webhook) => {
      const { clientConfig, ...others } = objectOf(webhook);
      const { caBundle: _bundle, ...config } = objectOf(clientConfig);
      return { ...others, config };
    });
    return { identity, hooks };
  };
  return {
    ...harness,
    subject: createTrustStore(server.connection, { name: "mbcas-webhook" }),
    absent: createTrustStore(server.connection, { name: "other" }),
    bundle: "one\n",
    rest: () => Promise.resolve(rest()),
  };
});

trustStoreContract(() => {
  const { clock, objects, harness } = scene(WEBHOOKS);
  const none = createWebhookObjects({ clock, webhooks: [] });
  none.configuration = undefined;
  return {
    ...harness,
    subject: objects.trust,
    absent: none.trust,
    bundle: "one\n",
    rest: () => Promise.resolve(objects.configuration?.bundles.map(([name]) => name)),
  };
});

certificateContract("paper", createPaperCertificates);

certificateContract("X.509", () => ({
  maker: createCertificateMaker(),
  reader: createCertificateReader(),
}));
