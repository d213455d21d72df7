/**
 * Where the webhook's certificates come from, by the settings.
 *
 * @module
 */
import type { KubeConnection } from "../../adapters/kube/client/connection.ts";
import {
  createSecretStore,
  createTrustStore,
} from "../../adapters/kube/writers/certificate_stores.ts";
import { createCertificateFolder } from "../../adapters/webhook/certificate_folder.ts";
import { createCertificateMaker } from "../../adapters/webhook/certificate_maker.ts";
import { createCertificateReader } from "../../adapters/webhook/certificate_reader.ts";
import type { Clock } from "../../shared/clock.ts";
import type { Log } from "../../shared/log.ts";
import type { Random } from "../../shared/random.ts";
import { followFiles } from "./follow_files.ts";
import { keepCertificates } from "./keep_certificates.ts";
import type { CertificateObserver } from "./ports.ts";
import type { WebhookParts } from "./run_webhook.ts";
import { servingNames, WEBHOOK_CONFIGURATION, WEBHOOK_SECRET } from "./webhook_names.ts";
import type { CertificateSource } from "./webhook_settings.ts";

/** The settings, and what the adapters work with. */
export interface CertificateSourceOptions {
  readonly webhookCertificates: CertificateSource;
  readonly webhookFolder: string;
  readonly webhookService: string;
  /** Of the installation. */
  readonly namespace: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly observer: CertificateObserver;
  /** Hears whom replicas trust, PEM; of files where `ca.crt` stands beside them. */
  readonly believe?: ((authorities: string) => Promise<void> | void) | undefined;
}

/** Keeps certificates of our own in a Secret, or follows a folder. */
export function certificateSource(
  connection: KubeConnection,
  options: CertificateSourceOptions,
): WebhookParts["certificates"] {
  const { webhookCertificates, webhookFolder, webhookService, namespace, ...surroundings } =
    options;
  const reader = createCertificateReader();
  const names = servingNames(webhookService, namespace);
  if (webhookCertificates !== "self") {
    const files = createCertificateFolder(webhookFolder);
    const [peerName = ""] = names;
    return (use, signal) => followFiles({ ...surroundings, files, reader, use, peerName }, signal);
  }
  const labels = {
    "app.kubernetes.io/name": "mbcas-webhook",
    "app.kubernetes.io/component": "controller",
    "app.kubernetes.io/part-of": "coallocator",
  };
  const parts = {
    ...surroundings,
    reader,
    maker: createCertificateMaker(),
    store: createSecretStore(connection, { namespace, name: WEBHOOK_SECRET, labels }),
    trust: createTrustStore(connection, { name: WEBHOOK_CONFIGURATION }),
    names,
  };
  return (use, signal) => keepCertificates({ ...parts, use }, signal);
}
