/**
 * The settings of the webhook.
 *
 * @module
 */
import * as z from "zod";
import { choiceKind, listenKind, switchKind, textKind } from "../../shared/config/kinds.ts";
import { setting } from "../../shared/config/setting.ts";

/**
 * Sources of certificates: made here, or files in a folder. `cert-manager` means files as well, which
 * cert-manager renews.
 */
export const CERTIFICATE_SOURCES = ["self", "cert-manager", "files"] as const;

/** One of {@linkcode CERTIFICATE_SOURCES}. */
export type CertificateSource = typeof CERTIFICATE_SOURCES[number];

/** A name of a Service (RFC 1035, as Kubernetes has it). */
const SERVICE_NAME = /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/;

const WEBHOOK_SHAPE = {
  webhook: setting("webhook.enabled", {
    kind: switchKind,
    default: "off",
    description: "Answers API servers that ask about pods before they are stored; the component " +
      "webhook of the manifests turns it on",
  }),
  webhookListen: setting("webhook.listen", {
    kind: listenKind,
    default: ":9443",
    description: "Where API servers ask the leader, over TLS",
  }),
  webhookCertificates: setting("webhook.certificates", {
    kind: choiceKind(CERTIFICATE_SOURCES),
    default: "self",
    description: "self makes, renews and has trusted its own; cert-manager and files read the " +
      "folder, and another program publishes the authority that API servers trust",
  }),
  webhookFolder: setting("webhook.certificateFolder", {
    kind: textKind("a folder"),
    default: "/etc/mbcas-webhook",
    description: "The folder with tls.crt and tls.key; followed while running; not for self",
  }),
  webhookService: setting("webhook.serviceName", {
    kind: textKind("a Service's name", SERVICE_NAME),
    default: "mbcas-webhook",
    description: "The Service in the installation's namespace that API servers call; without a " +
      "selector, as its endpoint is the leader",
  }),
};

/** A part of the controller's settings. */
export const WEBHOOK_SETTINGS: z.ZodObject<typeof WEBHOOK_SHAPE> = z.object(WEBHOOK_SHAPE);
