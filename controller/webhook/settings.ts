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
    description:
      "Serves the admission webhook, which API servers call before they store pods. The " +
      "component webhook of the manifests turns it on",
  }),
  webhookListen: setting("webhook.listen", {
    kind: listenKind,
    default: ":9443",
    description: "Address on which the leader serves the webhook, over TLS",
  }),
  webhookCertificates: setting("webhook.certificates", {
    kind: choiceKind(CERTIFICATE_SOURCES),
    default: "self",
    description:
      "self: the controller makes and renews the certificate, and publishes its authority to " +
      "API servers. cert-manager and files: the controller reads webhook.certificateFolder, and " +
      "another program publishes the authority",
  }),
  webhookFolder: setting("webhook.certificateFolder", {
    kind: textKind("a folder"),
    default: "/etc/mbcas-webhook",
    description:
      "Folder with tls.crt and tls.key, which the controller follows while it runs. Not used " +
      "with self",
  }),
  webhookService: setting("webhook.serviceName", {
    kind: textKind("a Service's name", SERVICE_NAME),
    default: "mbcas-webhook",
    description:
      "Service in the installation's namespace that API servers call. It has no selector: the " +
      "controller makes the leader its endpoint",
  }),
};

/** A part of the controller's settings. */
export const WEBHOOK_SETTINGS: z.ZodObject<typeof WEBHOOK_SHAPE> = z.object(WEBHOOK_SHAPE);
