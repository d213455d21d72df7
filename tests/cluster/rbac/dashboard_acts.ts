/**
 * The controller's acts by its rights for the dashboard; see `acts.ts`.
 *
 * @module
 */
import { createAccessReviews } from "../../../adapters/kube/client/api_checks.ts";
import type { RoleActs } from "./acts.ts";

const LIST_PODS = { verb: "list", group: "", resource: "pods" };

/** By right. */
export const DASHBOARD_ACTS: RoleActs = {
  "create tokenreviews.authentication.k8s.io": (connection) =>
    createAccessReviews(connection).userOf("none"),
  "create subjectaccessreviews.authorization.k8s.io": (connection) =>
    createAccessReviews(connection).isAllowed({ username: "none" }, LIST_PODS),
};
