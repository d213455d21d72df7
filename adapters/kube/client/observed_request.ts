/**
 * Requests to an API server as metrics count them.
 *
 * @module
 */
import type { KubeRequest } from "./connection.ts";

/** A request that was answered, or failed. */
export interface ObservedRequest {
  /** As RBAC has it: `get`, `list`, `watch`, `create`, `update`, `patch` or `delete`. */
  readonly verb: string;
  /** With its subresource, for instance `pods/resize`; `none` for paths without one. */
  readonly resource: string;
  /** HTTP status; 0 without a response. */
  readonly status: number;
  /** From the request to the begin of the response, ms. */
  readonly tookMs: number;
}

/** Observes each request; called synchronously, and must be quick. */
export type RequestObserver = (request: ObservedRequest) => void;

const VERBS = { POST: "create", PUT: "update", PATCH: "patch", DELETE: "delete" } as const;
/** `/api/v1` or `/apis/GROUP/VERSION`, the namespace, then resource, name and subresource. */
const PATH =
  /^\/api(?:s\/[^/]+)?\/[^/]+\/(?:namespaces\/[^/]+\/(?=[^/]+))?([^/]+)(\/[^/]+)?(\/[^/]+)?/;

/** Verb and resource of a request. */
export function verbAndResource(
  { path, method = "GET", query }: Pick<KubeRequest, "path" | "method" | "query">,
): Pick<ObservedRequest, "verb" | "resource"> {
  const [, kind = "none", name, subresource = ""] = PATH.exec(path) ?? [];
  const isList = kind !== "none" && name === undefined;
  const read = query?.["watch"] === "true" ? "watch" : isList ? "list" : "get";
  return { verb: method === "GET" ? read : VERBS[method], resource: kind + subresource };
}
