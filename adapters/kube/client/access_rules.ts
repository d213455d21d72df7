/**
 * Rights of the connection's user, by SelfSubjectAccessReviews.
 *
 * @module
 */
import type { KubeConnection } from "./connection.ts";
import { objectOf } from "./json_fields.ts";

/** A right, in the terms of RBAC. */
export interface AccessRule {
  readonly verb: string;
  /** Empty for the core group. */
  readonly group: string;
  /** The plural, for instance `pods`. */
  readonly resource: string;
  /** For instance `resize`. */
  readonly subresource?: string;
  /** Absent: all namespaces, or a kind without namespaces. */
  readonly namespace?: string;
  /** Absent: any object. */
  readonly name?: string;
}

/** True when the connection's user has this right. */
export async function isAllowed(connection: KubeConnection, rule: AccessRule): Promise<boolean> {
  const review = await connection.request({
    method: "POST",
    path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
    body: {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectAccessReview",
      spec: { resourceAttributes: rule },
    },
  });
  return objectOf(objectOf(review).status).allowed === true;
}
