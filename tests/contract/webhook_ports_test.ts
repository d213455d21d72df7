/** The contract suites of the webhook's ports, against what stands for them in tests. */
import { createCertificateMaker } from "../../adapters/webhook/certificate_maker.ts";
import { createCertificateReader } from "../../adapters/webhook/certificate_reader.ts";
import { createVirtualClock } from "../../simulation/virtual_clock.ts";
import { createPaperCertificates } from "../fixtures/paper_certificates.ts";
import { createWebhookObjects } from "../fixtures/webhook_objects.ts";
import { certificateContract } from "./certificate_contract.ts";
import { certificateStoreContract } from "./certificate_store_contract.ts";
import type { ContractHarness } from "./contract_harness.ts";
import { settleVirtually } from "./settle_virtually.ts";
import { trustStoreContract } from "./trust_store_contract.ts";

const AT_ONCE: ContractHarness = {
  settle: (promise) => promise,
  close: () => Promise.resolve(),
};

function scene(webhooks: readonly string[] = []) {
  const clock = createVirtualClock({ wallStart: Date.UTC(2026, 0, 1) });
  const objects = createWebhookObjects({ clock, webhooks });
  const harness: ContractHarness = {
    settle: (promise) => settleVirtually(clock, promise),
    close: () => Promise.resolve(),
  };
  return { clock, objects, harness };
}

certificateStoreContract(() => {
  const { objects, harness } = scene();
  return Promise.resolve({ ...harness, subject: objects.store });
});

trustStoreContract(() => {
  const { objects, harness } = scene(["a.mbcas.io", "b.mbcas.io"]);
  const other = scene();
  other.objects.configuration = undefined;
  return Promise.resolve({
    ...harness,
    subject: objects.trust,
    absent: {
      read: () => other.harness.settle(other.objects.trust.read()),
      write: (seen, bundle) => other.harness.settle(other.objects.trust.write(seen, bundle)),
    },
    bundle: "one\n",
    rest: () => Promise.resolve(objects.configuration?.bundles.map(([name]) => name)),
  });
});

certificateContract("paper", () => Promise.resolve({ ...AT_ONCE, ...createPaperCertificates() }));

certificateContract("X.509", () =>
  Promise.resolve({
    ...AT_ONCE,
    maker: createCertificateMaker(),
    reader: createCertificateReader(),
  }));
