/**
 * The error for a request that was not answered.
 *
 * @module
 */
import { ApiError } from "../../shared/api/api_error.ts";
import { failureWords } from "../failure_words.ts";
import type { Patience } from "../patience.ts";
import type { KubeRequest } from "./connection.ts";

/** The error for a request that has no answer, or one that can't be read. */
export function noAnswer(
  error: unknown,
  { request, patience, answered = false }: {
    readonly request: KubeRequest;
    readonly patience: Patience;
    /** Whether the answer had begun. */
    readonly answered?: boolean;
  },
): ApiError {
  const what = `${request.method ?? "GET"} ${request.path}`;
  const from = { cause: error };
  if (patience.exceededMs !== undefined) {
    return new ApiError(0, "Timeout", `${what}: nothing came for ${patience.exceededMs} ms`, from);
  }
  if (request.signal?.aborted) return new ApiError(0, "Aborted", `${what}: aborted`, from);
  const words = failureWords(error);
  if (error instanceof SyntaxError) {
    return new ApiError(0, "BadAnswer", `${what}: the answer is no JSON: ${words}`, from);
  }
  return new ApiError(0, answered ? "Broken" : "Unreachable", `${what}: ${words}`, from);
}
