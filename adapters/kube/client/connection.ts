/**
 * The connection to an API server, on which all list-watches and writers are built.
 *
 * @module
 */
import { ApiError } from "../../../shared/api/api_error.ts";

/** One HTTP request. */
export interface KubeRequest {
  /** From the root of the API, for instance `/api/v1/nodes/node-1`; see {@linkcode resourcePath}. */
  readonly path: string;
  /** @default {"GET"} */
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly query?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** @default {"application/json"} */
  readonly contentType?: string;
  /** The request's ID in the server's audit log. @default {the server's choice} */
  readonly auditID?: string | undefined;
  /**
   * Timeout of a request, and of each silence of a stream, ms.
   * @default {30000 for a request, 180000 for a stream}
   */
  readonly timeoutMs?: number;
  /** Ends the request with an error, and a stream without one. */
  readonly signal?: AbortSignal;
  /** Reads the body of a response. @default {JSON.parse} */
  readonly parse?: (text: string, headers: Headers) => unknown;
}

/** Media types of a PATCH; JSON is YAML. */
const PATCHES = {
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  json: "application/json-patch+json",
  apply: "application/apply-patch+yaml",
} as const;

/** A PATCH of this type. */
export function patchRequest(
  type: keyof typeof PATCHES,
  request: Omit<KubeRequest, "method" | "contentType">,
): KubeRequest {
  return { method: "PATCH", contentType: PATCHES[type], ...request };
}

/** A DELETE of the object if its UID, and version where given, are unchanged. */
export function deleteRequest(
  path: string,
  preconditions: { readonly uid: string; readonly resourceVersion?: string },
): KubeRequest {
  const body = { kind: "DeleteOptions", apiVersion: "v1", preconditions };
  return { method: "DELETE", path, body };
}

/** The result; undefined where the server answers with one of the statuses. */
export async function unlessRefused<T>(
  result: Promise<T>,
  ...statuses: readonly number[]
): Promise<T | undefined> {
  try {
    return await result;
  } catch (error) {
    if (error instanceof ApiError && statuses.includes(error.status)) return undefined;
    throw error;
  }
}

/** The result; undefined where the server answers 404. */
export function unlessNotFound<T>(result: Promise<T>): Promise<T | undefined> {
  return unlessRefused(result, 404);
}

/** The version of an object as the server has stored it. */
export function storedVersion(stored: unknown): string {
  return (stored as { metadata: { resourceVersion: string } }).metadata.resourceVersion;
}

/** Requests with the rights of one user. */
export interface KubeConnection {
  /**
   * Sends one request; resolves with the parsed body. Throws an `ApiError`: the server's error, or
   * status 0 without a response (reason `Timeout`, `Aborted`, `Unreachable` or `BadAnswer`).
   */
  request(request: KubeRequest): Promise<unknown>;
  /**
   * Opens a stream of JSON lines, such as a watch. Ends when the server closes it or the signal is
   * aborted; throws an `ApiError` as `request` does, also when the stream is silent for too long.
   */
  lines(request: KubeRequest): AsyncIterable<unknown>;
}

/** A connection that its owner closes. */
export interface OpenKubeConnection extends KubeConnection {
  /** Closes idle connections. Requests in flight go on. */
  close(): void;
}

/** The user to act as. Each member takes precedence over the kubeconfig's. */
export interface Impersonation {
  readonly user?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
}

/** A collection or an object of the API. */
export interface ResourcePath {
  /** `v1` for the core group, else for instance `apps/v1`. */
  readonly groupVersion: string;
  /** The plural, for instance `pods`. */
  readonly resource: string;
  /** Absent: all namespaces, or a kind without namespaces. */
  readonly namespace?: string;
  /** Absent: the collection. */
  readonly name?: string;
  /** For instance `status`. */
  readonly subresource?: string;
}

/** The path of a collection or an object, for instance `/api/v1/namespaces/shop/pods/web/resize`. */
export function resourcePath(
  { groupVersion, resource, namespace, name, subresource }: ResourcePath,
): string {
  return groupPath(groupVersion) +
    (namespace === undefined ? "" : `/namespaces/${pathPart(namespace)}`) + `/${resource}` +
    (name === undefined ? "" : `/${pathPart(name)}`) +
    (subresource === undefined ? "" : `/${subresource}`);
}

/** The path of a group's version: `/api/v1`, `/apis/apps/v1`. */
export function groupPath(groupVersion: string): string {
  return groupVersion.includes("/") ? `/apis/${groupVersion}` : `/api/${groupVersion}`;
}

/** Encodes a name or a namespace for a path. */
export function pathPart(name: string): string {
  return encodeURIComponent(name);
}
