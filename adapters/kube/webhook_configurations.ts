/**
 * Whom API servers trust when they call the webhook: the `caBundle` of one
 * MutatingWebhookConfiguration on a real API server.
 *
 * @module
 */
import { ApiError } from "../../shared/api/api_error.ts";
import { type KubeConnection, pathPart } from "./connection.ts";
import { listMemberOf, objectOf, textOf } from "./json_fields.ts";
import { parseIdentity } from "./object_identity.ts";

/** The configuration as it was read. */
export interface KubeWebhookTrust {
  readonly resourceVersion: string;
  /** PEM of the authorities by the names of its webhooks, in their order; empty: none. */
  readonly bundles: readonly (readonly [webhook: string, bundle: string])[];
}

/** Reads and writes the bundles of one configuration; the controller's port `TrustStore`. */
export interface KubeTrustStore {
  /** Undefined when there is no such configuration. Throws an `ApiError` when it can't be read. */
  read(): Promise<KubeWebhookTrust | undefined>;
  /**
   * Gives all webhooks this bundle, and changes nothing else. Throws an `ApiError` with status 409 when
   * the configuration was written since `seen` was read.
   */
  write(seen: KubeWebhookTrust, bundle: string): Promise<void>;
}

/** Which configuration, and as whom. */
export interface TrustStoreOptions {
  readonly name: string;
  /** @default {"mbcas-webhook"} */
  readonly fieldManager?: string;
}

/** The configuration of this name. */
export function createTrustStore(
  connection: KubeConnection,
  { name, fieldManager = "mbcas-webhook" }: TrustStoreOptions,
): KubeTrustStore {
  const path = `/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/${
    pathPart(name)
  }`;
  return {
    async read() {
      try {
        const raw = objectOf(await connection.request({ path }));
        const { resourceVersion } = parseIdentity(raw);
        return { resourceVersion, bundles: listMemberOf(raw, "webhooks").map(bundleOf) };
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return undefined;
        throw error;
      }
    },
    async write({ resourceVersion, bundles }, bundle) {
      const value = new TextEncoder().encode(bundle).toBase64();
      await connection.request({
        method: "PATCH",
        path,
        query: { fieldManager },
        contentType: "application/json-patch+json",
        body: [
          // A patch that says which version it is for meets a conflict on any other one, with a status
          // of its own; a failed test would look like a patch that is wrong.
          { op: "replace", path: "/metadata/resourceVersion", value: resourceVersion },
          ...bundles.flatMap(([webhook], index) => [
            { op: "test", path: `/webhooks/${index}/name`, value: webhook },
            { op: "add", path: `/webhooks/${index}/clientConfig/caBundle`, value },
          ]),
        ],
      });
    },
  };
}

function bundleOf(webhook: unknown): readonly [string, string] {
  const { name, clientConfig } = objectOf(webhook);
  return [textOf(name) ?? "", decoded(textOf(objectOf(clientConfig).caBundle) ?? "")];
}

/** What can't be decoded is no bundle of ours. */
function decoded(text: string): string {
  try {
    return new TextDecoder().decode(Uint8Array.fromBase64(text));
  } catch {
    return "";
  }
}
