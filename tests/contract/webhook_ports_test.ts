/**
 * The contract suites of the webhook's ports, against what stands for them in tests, and against the
 * adapters with a server of canned rules.
 */
import { createEndpointSliceStore } from "../../adapters/kube/writers/webhook_stores.ts";
import {
  createCertificateMaker,
  createCertificateReader,
} from "../../adapters/webhook/certificates.ts";
import { createPaperCertificates } from "../fixtures/webhook/paper_certificates.ts";
import { serveWebhookObjects } from "../fixtures/webhook/webhook_objects.ts";
import { certificateContract } from "./certificate_contract.ts";
import { endpointSliceContract } from "./endpoint_slice_contract.ts";

endpointSliceContract(() => {
  const server = serveWebhookObjects({ name: "mbcas-webhook", webhooks: [] });
  const place = { namespace: "mbcas-system", name: "mbcas-webhook-ipv4", labels: {} };
  return {
    subject: createEndpointSliceStore(server.connection, place),
    close: async () => await server[Symbol.asyncDispose](),
  };
});

certificateContract("paper", createPaperCertificates);

certificateContract("X.509", () => ({
  maker: createCertificateMaker(),
  reader: createCertificateReader(),
}));
