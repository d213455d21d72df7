/**
 * Writes that a server is asked to try: nothing is stored.
 *
 * @module
 */
import type { KubeConnection } from "../../../../adapters/kube/client/connection.ts";
import { ApiError } from "../../../../shared/api/api_error.ts";

/** The server's answer: undefined where it takes the object, else its status and message. */
export type Refusal = Pick<ApiError, "status" | "message"> | undefined;

/** Fields that the schema does not know are the server's to judge, not a client's. */
const QUERY = { dryRun: "All", fieldValidation: "Ignore" };

/** Tries to create an object in a collection. */
export function tryCreate(
  connection: KubeConnection,
  { path, body }: { readonly path: string; readonly body: unknown },
): Promise<Refusal> {
  return refusalOf(connection.request({ method: "POST", path, query: QUERY, body }));
}

/** Tries a merge patch of an object. */
export function tryPatch(
  connection: KubeConnection,
  { path, body }: { readonly path: string; readonly body: unknown },
): Promise<Refusal> {
  const contentType = "application/merge-patch+json";
  return refusalOf(connection.request({ method: "PATCH", path, query: QUERY, contentType, body }));
}

async function refusalOf(request: Promise<unknown>): Promise<Refusal> {
  try {
    await request;
    return undefined;
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}
