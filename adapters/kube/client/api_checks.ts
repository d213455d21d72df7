/**
 * Checks of the API server at a program's start: its version and what it serves; and its reviews of
 * users. Only a server that does not respond is an error.
 *
 * @module
 */
import * as z from "zod";
import {
  ALLOCATION_GROUP_VERSION,
  ALLOCATION_RESOURCE,
  podAllocationSchema,
} from "../../../shared/api/pod_allocation.ts";
import { groupPath, type KubeConnection, unlessNotFound, unlessRefused } from "./connection.ts";
import { type JSONObject, listOf, objectOf, textOf } from "./json_fields.ts";

/** Findings about the server. */
export interface ApiFindings {
  /** For instance `v1.36.3`. */
  readonly serverVersion: string;
  /** Whether `pods/resize` is served; discovery shows a disabled feature gate, too. */
  readonly servesPodResize: boolean;
  /** Whether `pods/resize` may lower memory limits without a restart. */
  readonly lowersMemoryLimits: boolean;
  /** True when the custom resource is established. */
  readonly servesAllocations: boolean;
  /** Fields and values that the CRD of allocations does not know; see `unknownAllocationFields`. */
  readonly unknownFields: readonly string[];
}

/** Runs all checks. Throws an `ApiError` when the server does not respond. */
export async function checkAPI(connection: KubeConnection): Promise<ApiFindings> {
  const allocations = { groupVersion: ALLOCATION_GROUP_VERSION, resource: ALLOCATION_RESOURCE };
  const [serverVersion, servesPodResize, servesAllocations, unknownFields] = await Promise.all([
    readServerVersion(connection),
    servesResource(connection, { groupVersion: "v1", resource: "pods/resize" }),
    servesResource(connection, allocations),
    unknownAllocationFields(connection),
  ]);
  return {
    serverVersion,
    servesPodResize,
    lowersMemoryLimits: servesPodResize && lowersMemoryLimits(serverVersion),
    servesAllocations,
    unknownFields,
  };
}

/** The server's version, for instance `v1.36.3`; empty when it does not report one. */
export async function readServerVersion(connection: KubeConnection): Promise<string> {
  return textOf(objectOf(await connection.request({ path: "/version" })).gitVersion) ?? "";
}

/** True when discovery lists the resource; `groupVersion` is `v1` or `group/version`. */
async function servesResource(
  connection: KubeConnection,
  { groupVersion, resource }: { readonly groupVersion: string; readonly resource: string },
): Promise<boolean> {
  const path = groupPath(groupVersion);
  const { resources } = objectOf(await unlessNotFound(connection.request({ path })));
  return listOf(resources).some((one) => objectOf(one).name === resource);
}

/**
 * First minor version that accepts a lower memory limit (KEP-1287). Neither discovery nor the
 * OpenAPI document shows that.
 */
const LOWERS_MEMORY_MINOR = 34;

/** False for an unreadable version: the server would reject a whole resize. */
function lowersMemoryLimits(version: string): boolean {
  const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(version) ?? [];
  return Number(major) > 1 || (major === "1" && Number(minor) >= LOWERS_MEMORY_MINOR);
}

/**
 * Fields of an allocation that the server would drop, for instance `status.bounds.containers.boost`, and
 * values that it would reject, for instance `status.bounds.containers.held: half`: its CRD is older than
 * this program. Empty where the server does not publish the schema. Throws an `ApiError` when it does
 * not respond.
 */
export async function unknownAllocationFields(
  connection: KubeConnection,
): Promise<readonly string[]> {
  const served = await servedSchema(connection);
  if (served === undefined) return [];
  const { properties } = objectOf(
    z.toJSONSchema(podAllocationSchema, { target: "openapi-3.0", io: "input" }),
  );
  const known = objectOf(objectOf(served).properties);
  return ["spec", "status"].flatMap((half) =>
    missingFields(half, objectOf(properties)[half], known[half])
  );
}

/** The schema of PodAllocations on the server; undefined where it publishes none. */
async function servedSchema(connection: KubeConnection): Promise<unknown> {
  const path = `/openapi/v3/apis/${ALLOCATION_GROUP_VERSION}`;
  // Forbidden, or not served: without a schema no field is missing.
  const { components } = objectOf(await unlessRefused(connection.request({ path }), 403, 404));
  return Object.values(objectOf(objectOf(components).schemas)).find((schema) =>
    listOf(objectOf(schema)["x-kubernetes-group-version-kind"]).some((one) =>
      textOf(objectOf(one).kind) === "PodAllocation"
    )
  );
}

function missingFields(path: string, ours: unknown, served: unknown): readonly string[] {
  if (served === undefined) return [path];
  const { properties, items, enum: values } = objectOf(ours);
  const known = objectOf(served);
  const accepted = listOf(known.enum);
  const rejected = accepted.length === 0
    ? []
    : listOf(values).filter((value) => !accepted.includes(value));
  const fields = Object.entries(objectOf(properties)).flatMap(([name, field]) =>
    missingFields(`${path}.${name}`, field, objectOf(known.properties)[name])
  );
  const itemFields = items === undefined ? [] : missingFields(path, items, known.items);
  return [...rejected.map((value) => `${path}: ${String(value)}`), ...fields, ...itemFields];
}

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

/** A user as the API server knows it. */
export interface ReviewedUser {
  readonly username: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** The API server's reviews of other users. Each call throws an `ApiError`. */
export interface AccessReviews {
  /** The user of a token; undefined where the API server does not accept it. */
  userOf(token: string): Promise<ReviewedUser | undefined>;
  /** Whether the user has the right. */
  isAllowed(user: ReviewedUser, rule: AccessRule): Promise<boolean>;
}

/** Creates reviews with the rights of this connection. */
export function createAccessReviews(connection: KubeConnection): AccessReviews {
  return {
    async userOf(token) {
      const { authenticated, user } = await review(connection, "TokenReview", { token });
      return authenticated === true ? user as ReviewedUser : undefined;
    },
    async isAllowed({ username, uid, groups, extra }, resourceAttributes) {
      const spec = { user: username, uid, groups, extra, resourceAttributes };
      return (await review(connection, "SubjectAccessReview", spec)).allowed === true;
    },
  };
}

/** The status of a review with this spec. */
async function review(
  connection: KubeConnection,
  kind: "TokenReview" | "SubjectAccessReview",
  spec: unknown,
): Promise<JSONObject> {
  const apiVersion = `${kind === "TokenReview" ? "authentication" : "authorization"}.k8s.io/v1`;
  const reviewed = await connection.request({
    method: "POST",
    path: `/apis/${apiVersion}/${kind.toLowerCase()}s`,
    body: { apiVersion, kind, spec },
  });
  return objectOf(objectOf(reviewed).status);
}
