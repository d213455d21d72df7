/**
 * The webhook's certificate, replaced in its Secret as a renewal would.
 *
 * @module
 */
import { createCertificateMaker } from "../../../../adapters/webhook/certificates.ts";
import { createSecretStore } from "../../../../adapters/kube/writers/webhook_stores.ts";
import type { KubeConnection } from "../../../../adapters/kube/client/connection.ts";
import { lifeFrom, SERVING_LIFE_MS } from "../../../../controller/webhook/certificate_step.ts";
import { servingNames, WEBHOOK_SECRET } from "../../../../controller/webhook/webhook_objects.ts";
import { PRODUCT_NAMESPACE } from "../product/product.ts";

const SERVICE = "mbcas-webhook";
const HOUR_MS = 3_600_000;

/** Puts a new certificate of the same authority in; returns when it ends, ms since 1970. */
export async function renewServing(connection: KubeConnection, nowMs: number): Promise<number> {
  const store = createSecretStore(connection, {
    namespace: PRODUCT_NAMESPACE,
    name: WEBHOOK_SECRET,
    labels: {},
  });
  const stored = await store.read();
  if (stored === undefined) throw new Error("Cannot renew the certificate: there is no Secret");
  const authority = { cert: stored.data["ca.crt"] ?? "", key: stored.data["ca.key"] ?? "" };
  // An hour less than the product's own, so that it is distinguished from those.
  const validity = lifeFrom(nowMs, SERVING_LIFE_MS - HOUR_MS);
  const names = servingNames(SERVICE, PRODUCT_NAMESPACE);
  const { cert, key } = await createCertificateMaker().makeServing(authority, {
    ...validity,
    names,
  });
  await store.replace(stored, { ...stored.data, "tls.crt": cert, "tls.key": key });
  return validity.notAfterMs;
}
