/**
 * Which fields of an allocation the server would drop or refuse: those that its definition (CRD) does
 * not know, because it is older than this program.
 *
 * @module
 */
import * as z from "zod";
import { ApiError } from "../../shared/api/api_error.ts";
import { podAllocationSchema } from "../../shared/api/pod_allocation.ts";
import { ALLOCATION_GROUP_VERSION } from "./allocation_path.ts";
import type { KubeConnection } from "./connection.ts";
import { listOf, objectOf, textOf } from "./json_fields.ts";

const PATH = `/openapi/v3/apis/${ALLOCATION_GROUP_VERSION}`;

/**
 * Paths of such fields, for instance `status.bounds.containers.boost`, and of words that a field may
 * not have, for instance `status.bounds.containers.held: half`. Empty where the server does not tell
 * its schema. Throws an `ApiError` when it does not answer.
 */
export async function unknownAllocationFields(
  connection: KubeConnection,
): Promise<readonly string[]> {
  const theirs = await definitionOf(connection);
  if (theirs === undefined) return [];
  const { properties } = objectOf(
    z.toJSONSchema(podAllocationSchema, { target: "openapi-3.0", io: "input" }),
  );
  const known = objectOf(objectOf(theirs).properties);
  return ["spec", "status"].flatMap((half) =>
    missing(half, objectOf(properties)[half], known[half])
  );
}

/** The server's schema of the kind; undefined where it tells none. */
async function definitionOf(connection: KubeConnection): Promise<unknown> {
  try {
    const { components } = objectOf(await connection.request({ path: PATH }));
    const all = Object.values(objectOf(objectOf(components).schemas));
    return all.find((schema) =>
      listOf(objectOf(schema)["x-kubernetes-group-version-kind"]).some((one) =>
        textOf(objectOf(one).kind) === "PodAllocation"
      )
    );
  } catch (error) {
    // Closed to this account, or not served: nothing is known then, and nothing is missing.
    if (error instanceof ApiError && (error.status === 403 || error.status === 404)) {
      return undefined;
    }
    throw error;
  }
}

function missing(path: string, ours: unknown, theirs: unknown): readonly string[] {
  if (theirs === undefined) return [path];
  const { properties, items, enum: words } = objectOf(ours);
  const known = objectOf(theirs);
  const taken = listOf(known.enum);
  const refused = taken.length === 0 ? [] : listOf(words).filter((word) => !taken.includes(word));
  const fields = Object.entries(objectOf(properties)).flatMap(([name, field]) =>
    missing(`${path}.${name}`, field, objectOf(known.properties)[name])
  );
  const ofItems = items === undefined ? [] : missing(path, items, known.items);
  return [...refused.map((word) => `${path}: ${String(word)}`), ...fields, ...ofItems];
}
