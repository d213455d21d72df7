/**
 * What a program asks the server at its start: is it new enough, are the custom resources there, do
 * the rights suffice? Answers are values; only a server that can't be reached is an error.
 *
 * @module
 */
import { ApiError } from "../../shared/api/api_error.ts";
import { unknownAllocationFields } from "./allocation_fields.ts";
import { ALLOCATION_GROUP_VERSION, ALLOCATION_RESOURCE } from "./allocation_path.ts";
import type { KubeConnection } from "./connection.ts";
import { listOf, objectOf, textOf } from "./json_fields.ts";

/** A right, in the words of RBAC. */
export interface AccessRule {
  readonly verb: string;
  /** Empty for the core group. */
  readonly group: string;
  /** The plural, for instance `pods`. */
  readonly resource: string;
  /** For instance `resize`. */
  readonly subresource?: string;
  /** Absent: in all namespaces, or without one. */
  readonly namespace?: string;
  /** Absent: any object. */
  readonly name?: string;
}

/** What the server said. */
export interface ApiFindings {
  /** For instance `v1.36.3`. */
  readonly serverVersion: string;
  /** True when pods can be resized in place. */
  readonly servesPodResize: boolean;
  /** True when the custom resource is established. */
  readonly servesAllocations: boolean;
  /** Fields and words of it that its definition does not know; see `unknownAllocationFields`. */
  readonly unknownFields: readonly string[];
  /** Rights that were asked for and are not given, in the order of the asking. */
  readonly missingRights: readonly AccessRule[];
}

/** Asks all of it. Throws an `ApiError` when the server does not answer. */
export async function checkAPI(
  connection: KubeConnection,
  { rules }: { readonly rules: readonly AccessRule[] },
): Promise<ApiFindings> {
  const [serverVersion, servesPodResize, servesAllocations, unknownFields, rights] = await Promise
    .all([
      readServerVersion(connection),
      servesResource(connection, { groupVersion: "v1", resource: "pods/resize" }),
      servesResource(connection, {
        groupVersion: ALLOCATION_GROUP_VERSION,
        resource: ALLOCATION_RESOURCE,
      }),
      unknownAllocationFields(connection),
      Promise.all(rules.map((rule) => isAllowed(connection, rule))),
    ]);
  const missingRights = rules.filter((_rule, index) => rights[index] !== true);
  return { serverVersion, servesPodResize, servesAllocations, unknownFields, missingRights };
}

/** The server's own version, for instance `v1.36.3`; empty when it does not tell. */
export async function readServerVersion(connection: KubeConnection): Promise<string> {
  return textOf(objectOf(await connection.request({ path: "/version" })).gitVersion) ?? "";
}

/** True when discovery lists the resource; `groupVersion` is `v1` or `group/version`. */
export async function servesResource(
  connection: KubeConnection,
  { groupVersion, resource }: { readonly groupVersion: string; readonly resource: string },
): Promise<boolean> {
  const path = groupVersion.includes("/") ? `/apis/${groupVersion}` : `/api/${groupVersion}`;
  try {
    const { resources } = objectOf(await connection.request({ path }));
    return listOf(resources).some((one) => objectOf(one).name === resource);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return false;
    throw error;
  }
}

/** True when the connection's user has this right (SelfSubjectAccessReview). */
export async function isAllowed(connection: KubeConnection, rule: AccessRule): Promise<boolean> {
  const answer = await connection.request({
    method: "POST",
    path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
    body: {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectAccessReview",
      spec: { resourceAttributes: rule },
    },
  });
  return objectOf(objectOf(answer).status).allowed === true;
}

/** The rule as people write it: `patch pods/resize in shop`. */
export function accessRuleText(rule: AccessRule): string {
  const { verb, group, resource, subresource, namespace, name } = rule;
  const kind = subresource === undefined ? resource : `${resource}/${subresource}`;
  return `${verb} ${kind}${group === "" ? "" : `.${group}`}` +
    (name === undefined ? "" : ` "${name}"`) +
    (namespace === undefined ? "" : ` in ${namespace}`);
}
