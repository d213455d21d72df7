/**
 * The webhook's rows of the controller's table of settings.
 *
 * @module
 */
import type { Setting } from "../../shared/config/setting.ts";
import { choiceKind, listenKind, switchKind, textKind } from "../../shared/config/setting_kinds.ts";

/**
 * Sources of certificates: made here, or files in a folder. `cert-manager` means files as well, which
 * cert-manager renews.
 */
export const CERTIFICATE_SOURCES = ["self", "cert-manager", "files"] as const;

/** One of {@linkcode CERTIFICATE_SOURCES}. */
export type CertificateSource = typeof CERTIFICATE_SOURCES[number];

/** A name of a Service (RFC 1035, as Kubernetes has it). */
const SERVICE_NAME = /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** The rows, by the names that the program's code uses. */
export interface WebhookRows {
  readonly webhook: Setting<boolean>;
  readonly webhookListen: Setting<string>;
  readonly webhookCertificates: Setting<CertificateSource>;
  readonly webhookFolder: Setting<string>;
  readonly webhookService: Setting<string>;
}

/** Spread these into the controller's table. */
export const WEBHOOK_ROWS: WebhookRows = {
  webhook: {
    key: "webhook.enabled",
    flag: "--webhook",
    env: "MBCAS_WEBHOOK",
    default: "off",
    description: "Answers API servers that ask about pods before they are stored; the component " +
      "webhook of the manifests turns it on",
    kind: switchKind,
  },
  webhookListen: {
    key: "webhook.listen",
    flag: "--webhook-listen",
    env: "MBCAS_WEBHOOK_LISTEN",
    default: ":9443",
    description: "Where API servers ask the leader, over TLS",
    kind: listenKind,
    aliases: ["webhook.port"],
  },
  webhookCertificates: {
    key: "webhook.certificates",
    flag: "--webhook-certificates",
    env: "MBCAS_WEBHOOK_CERTIFICATES",
    default: "self",
    description: "self makes, renews and has trusted its own; cert-manager and files read the " +
      "folder, and another program publishes the authority that API servers trust",
    kind: choiceKind(CERTIFICATE_SOURCES),
  },
  webhookFolder: {
    key: "webhook.certificateFolder",
    flag: "--webhook-certificate-folder",
    env: "MBCAS_WEBHOOK_CERTIFICATE_FOLDER",
    default: "/etc/mbcas-webhook",
    description: "The folder with tls.crt and tls.key; followed while running; not for self",
    kind: textKind("a folder"),
    aliases: ["webhook.certDir"],
  },
  webhookService: {
    key: "webhook.serviceName",
    flag: "--webhook-service-name",
    env: "MBCAS_WEBHOOK_SERVICE_NAME",
    default: "mbcas-webhook",
    description: "The Service in the installation's namespace that API servers call; without a " +
      "selector, as its endpoint is the leader",
    kind: {
      ...textKind("a Service's name"),
      parse: (text) => SERVICE_NAME.test(text) ? text : undefined,
    },
  },
};
