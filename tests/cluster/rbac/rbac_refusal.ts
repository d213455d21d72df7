/**
 * Whether RBAC has refused a request, or something else: an admission policy answers 403 as well.
 *
 * @module
 */
import type { AccessRule } from "../../../adapters/kube/client/api_checks.ts";
import type { ApiError } from "../../../shared/api/api_error.ts";

/** What was refused; a subresource stands behind its resource, as in `pods/resize`. */
export type RefusedRight = Pick<AccessRule, "verb" | "group" | "resource">;

/**
 * The message of the API server (k8s.io/apiserver/pkg/endpoints/handlers/responsewriters,
 * `forbiddenMessage`).
 */
const REFUSAL =
  / cannot (\S+) resource "([^"]+)" in API group "([^"]*)" (at the cluster|in the name)/;

/** The right that was missing; undefined when anything but RBAC has refused. */
export function refusedByRBAC({ status, message }: ApiError): RefusedRight | undefined {
  const found = status === 403 ? REFUSAL.exec(message) : null;
  if (found === null) return undefined;
  const [, verb = "", resource = "", group = ""] = found;
  return { verb, group, resource };
}
