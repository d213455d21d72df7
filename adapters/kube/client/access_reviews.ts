/**
 * Reviews of other users' tokens and rights by the API server.
 *
 * @module
 */
import type { AccessRule } from "./api_checks.ts";
import type { KubeConnection } from "./connection.ts";

/** A user as the API server knows it. */
export interface ReviewedUser {
  readonly username: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

interface TokenReview {
  readonly status?: { readonly authenticated?: boolean; readonly user?: ReviewedUser };
}

interface SubjectAccessReview {
  readonly status?: { readonly allowed?: boolean };
}

/** Reviews with the rights of this connection. */
export function createAccessReviews(connection: KubeConnection): {
  /** The user of a token; undefined where it is not accepted. Throws an `ApiError`. */
  userOf(token: string): Promise<ReviewedUser | undefined>;
  /** Whether the user has the right. Throws an `ApiError`. */
  isAllowed(user: ReviewedUser, rule: AccessRule): Promise<boolean>;
} {
  return {
    async userOf(token) {
      const [apiVersion, kind] = ["authentication.k8s.io/v1", "TokenReview"];
      const review = await connection.request({
        method: "POST",
        path: `/apis/${apiVersion}/tokenreviews`,
        body: { apiVersion, kind, spec: { token } },
      }) as TokenReview;
      return review.status?.authenticated === true ? review.status.user : undefined;
    },
    async isAllowed({ username, uid, groups, extra }, resourceAttributes) {
      const [apiVersion, kind] = ["authorization.k8s.io/v1", "SubjectAccessReview"];
      const spec = { user: username, uid, groups, extra, resourceAttributes };
      const review = await connection.request({
        method: "POST",
        path: `/apis/${apiVersion}/subjectaccessreviews`,
        body: { apiVersion, kind, spec },
      }) as SubjectAccessReview;
      return review.status?.allowed === true;
    },
  };
}
