/**
 * Objects of the webhook on a real API server, each read and written by its name: the Secret with its
 * certificates, the `caBundle` of the MutatingWebhookConfiguration, by which API servers trust them, and
 * the EndpointSlice of its Service.
 *
 * @module
 */
import { ApiError } from "../../../shared/api/api_error.ts";
import {
  type KubeConnection,
  type KubeRequest,
  patchRequest,
  resourcePath,
  unlessNotFound,
} from "../client/connection.ts";
import { objectOf, textsOf } from "../client/json_fields.ts";
import { parseIdentity, parseNamespacedIdentity } from "../kinds/object_fields.ts";
import type {
  CertificateStore,
  EndpointSlice,
  EndpointSliceSpec,
  EndpointSliceStore,
  StoredCertificates,
  StoredTexts,
  TrustStore,
} from "../../../shared/admission/ports.ts";
import type { RawMetadata } from "../kinds/raw_objects.ts";

/** Creates the store of one Secret. */
export function createSecretStore(
  connection: KubeConnection,
  { namespace, name, labels }: {
    readonly namespace: string;
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
  },
): CertificateStore {
  const secrets = { groupVersion: "v1", resource: "secrets", namespace };
  const path = resourcePath({ ...secrets, name });
  /** Secrets as they were read: a replacement keeps all but the data. */
  const read = new WeakMap<StoredCertificates, object>();
  const send = (request: KubeRequest): Promise<unknown> => sendDiscreetly(connection, request);
  return {
    async read() {
      const raw = await unlessNotFound(send({ path }));
      if (raw === undefined) return undefined;
      const { resourceVersion } = parseIdentity(raw);
      const texts = Object.entries(textsOf(objectOf(raw).data));
      const data = Object.fromEntries(texts.map(([key, text]) => [key, decoded(text)]));
      const secret: StoredCertificates = { resourceVersion, data };
      read.set(secret, objectOf(raw));
      return secret;
    },
    async create(data) {
      const body = {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { namespace, name, labels },
        type: "Opaque",
        data: encodedTexts(data),
      };
      await send({ method: "POST", path: resourcePath(secrets), body });
    },
    async replace(seen, data) {
      const raw = objectOf(read.get(seen));
      const { resourceVersion } = seen;
      const metadata = { ...objectOf(raw.metadata), namespace, name, resourceVersion };
      await send({ method: "PUT", path, body: { ...raw, metadata, data: encodedTexts(data) } });
    },
  };
}

function encodedTexts(data: StoredTexts): StoredTexts {
  return Object.fromEntries(Object.entries(data).map(([key, text]) => [key, encoded(text)]));
}

/** Hides the parser's message about a response that is no JSON: it repeats parts of the Secret. */
async function sendDiscreetly(connection: KubeConnection, request: KubeRequest): Promise<unknown> {
  try {
    return await connection.request(request);
  } catch (error) {
    if (!(error instanceof ApiError && error.reason === "BadAnswer")) throw error;
    const { method = "GET", path } = request;
    throw new ApiError(0, error.reason, `${method} ${path}: the answer is not JSON`);
  }
}

/** A MutatingWebhookConfiguration, as far as it is read. */
interface RawConfiguration {
  readonly webhooks?: readonly {
    readonly name: string;
    readonly clientConfig: { readonly caBundle?: string };
  }[];
}

/** Creates the store of one configuration. */
export function createTrustStore(
  connection: KubeConnection,
  { name }: { readonly name: string },
): TrustStore {
  const path = resourcePath({
    groupVersion: "admissionregistration.k8s.io/v1",
    resource: "mutatingwebhookconfigurations",
    name,
  });
  return {
    async read() {
      const raw = await unlessNotFound(connection.request({ path }));
      if (raw === undefined) return undefined;
      const { webhooks = [] } = raw as RawConfiguration;
      const { resourceVersion } = parseIdentity(raw);
      const bundles = webhooks.map(({ name: webhook, clientConfig }) =>
        [webhook, decoded(clientConfig.caBundle ?? "")] as const
      );
      return { resourceVersion, bundles };
    },
    async write({ resourceVersion, bundles }, bundle) {
      const value = encoded(bundle);
      await connection.request(patchRequest("json", {
        path,
        query: { fieldManager: "mbcas-webhook" },
        body: [
          // Makes the patch a 409 on another version; a failed `test` is a 422, as for an invalid patch.
          { op: "replace", path: "/metadata/resourceVersion", value: resourceVersion },
          ...bundles.flatMap(([webhook], index) => [
            { op: "test", path: `/webhooks/${index}/name`, value: webhook },
            { op: "add", path: `/webhooks/${index}/clientConfig/caBundle`, value },
          ]),
        ],
      }));
    },
  };
}

function encoded(text: string): string {
  return new TextEncoder().encode(text).toBase64();
}

function decoded(text: string): string {
  return new TextDecoder().decode(Uint8Array.fromBase64(text));
}

/** Label by which a Service selects its EndpointSlices. */
const SERVICE_NAME = "kubernetes.io/service-name";

/** Creates the store of one EndpointSlice. */
export function createEndpointSliceStore(
  connection: KubeConnection,
  { namespace, name, labels }: {
    readonly namespace: string;
    readonly name: string;
    /** Labels beside the Service's name. */
    readonly labels: Readonly<Record<string, string>>;
  },
): EndpointSliceStore {
  const slices = { groupVersion: "discovery.k8s.io/v1", resource: "endpointslices", namespace };
  const path = resourcePath({ ...slices, name });
  const body = (
    { service, addressType, endpoints, ports }: EndpointSliceSpec,
    version: Readonly<Record<string, string>> = {},
  ): unknown => ({
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { namespace, name, labels: { ...labels, [SERVICE_NAME]: service }, ...version },
    addressType,
    endpoints: endpoints.map(({ addresses, ready }) => ({ addresses, conditions: { ready } })),
    ports: ports.map((port) => ({ ...port, protocol: "TCP" })),
  });
  return {
    read: () => unlessNotFound(connection.request({ path }).then(parseEndpointSlice)),
    async create(spec) {
      await connection.request({ method: "POST", path: resourcePath(slices), body: body(spec) });
    },
    async replace({ metadata: { uid, resourceVersion } }, spec) {
      await connection.request({ method: "PUT", path, body: body(spec, { uid, resourceVersion }) });
    },
  };
}

function parseEndpointSlice(raw: unknown): EndpointSlice {
  // This kind has no spec: endpoints and ports are beside the metadata.
  const { metadata: { labels = {} }, addressType, endpoints, ports } = raw as RawEndpointSlice;
  return {
    metadata: parseNamespacedIdentity(raw),
    service: labels[SERVICE_NAME] ?? "",
    addressType,
    endpoints: (endpoints ?? []).map(({ addresses, conditions }) => ({
      addresses,
      ready: conditions?.ready !== false,
    })),
    ports: (ports ?? []).map(({ name = "", port = 0 }) => ({ name, port })),
  };
}

interface RawEndpointSlice {
  readonly metadata: RawMetadata;
  readonly addressType: string;
  readonly endpoints?:
    | readonly {
      readonly addresses: readonly string[];
      readonly conditions?: { ready?: boolean };
    }[]
    | null;
  readonly ports?: readonly { readonly name?: string; readonly port?: number }[] | null;
}
