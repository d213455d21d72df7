/**
 * An EndpointSlice on a real API server: read and written by its name, never listed.
 *
 * @module
 */
import type { EndpointSlice, EndpointSliceSpec } from "../../../shared/api/endpoint_slice.ts";
import { type KubeConnection, resourcePath, unlessNotFound } from "../client/connection.ts";
import { parseNamespacedIdentity } from "../kinds/object_fields.ts";
import type { RawMetadata } from "../kinds/raw_objects.ts";

/** By this label a Service finds its EndpointSlices. */
const SERVICE_NAME = "kubernetes.io/service-name";

/** One EndpointSlice; the controller's port of this name. */
export interface KubeEndpointSliceStore {
  /** Undefined when there is none. Throws an `ApiError` when it can't be read. */
  read(): Promise<EndpointSlice | undefined>;
  /** Throws an `ApiError` with status 409 when there is one. */
  create(spec: EndpointSliceSpec): Promise<void>;
  /** Throws an `ApiError` with status 409 when it was written since `seen` was read. */
  replace(seen: EndpointSlice, spec: EndpointSliceSpec): Promise<void>;
}

/** Which EndpointSlice. */
export interface EndpointSlicePlace {
  readonly namespace: string;
  readonly name: string;
  /** Labels beside the Service's name. */
  readonly labels: Readonly<Record<string, string>>;
}

/** The EndpointSlice of this name. */
export function createEndpointSliceStore(
  connection: KubeConnection,
  { namespace, name, labels }: EndpointSlicePlace,
): KubeEndpointSliceStore {
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
  // Endpoints and ports stand beside the metadata: this kind has no spec.
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
