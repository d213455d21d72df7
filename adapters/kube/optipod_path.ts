/**
 * Where policies and reports are found on the API server.
 *
 * @module
 */
import { OPTIPOD_GROUP_VERSION } from "../../shared/api/optimization_policy.ts";
import { pathPart } from "./connection.ts";

/** A plural of the group. */
export type OptipodResource = "optimizationpolicies" | "recommendationreports";

/** The collection of a namespace, or of all without one. */
export function optipodCollection(resource: OptipodResource, namespace?: string): string {
  const place = namespace === undefined ? "" : `/namespaces/${pathPart(namespace)}`;
  return `/apis/${OPTIPOD_GROUP_VERSION}${place}/${resource}`;
}

/** One object. */
export function optipodObject(
  resource: OptipodResource,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): string {
  return `${optipodCollection(resource, namespace)}/${pathPart(name)}`;
}
