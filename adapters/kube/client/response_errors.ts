/**
 * Errors of responses that are no success, and of requests without a response.
 *
 * @module
 */
import { ApiError } from "../../../shared/api/api_error.ts";
import { failureMessage, jsonOrUndefined, type RequestTimeout } from "../../bounded_fetch.ts";
import type { KubeRequest } from "./connection.ts";
import { listOf, numberOf, objectOf, textOf } from "./json_fields.ts";

/** A response that is no success. */
export interface FailedResponse {
  readonly status: number;
  /** The body: a Status object, HTML of a proxy, or plain text. */
  readonly text: string;
  readonly retryAfter?: string | null;
}

/** Reasons of the server's own errors (k8s.io/apimachinery/pkg/apis/meta/v1, StatusReason). */
const REASONS: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  405: "MethodNotAllowed",
  406: "NotAcceptable",
  409: "Conflict",
  410: "Gone",
  413: "RequestEntityTooLarge",
  415: "UnsupportedMediaType",
  422: "Invalid",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout",
};

/** Characters that a message takes from a body that is no Status object. */
const LONGEST_EXCERPT = 200;

/** The error of a response; `nowMs` is the wall clock, for a Retry-After with a date. */
export function responseError(response: FailedResponse, nowMs: number): ApiError {
  const retryAfterMs = retryAfter(response.retryAfter ?? undefined, nowMs);
  const body = jsonOrUndefined(response.text);
  if (objectOf(body).kind === "Status") {
    return statusError(body, { status: response.status, retryAfterMs });
  }
  const excerpt = response.text.trim().replace(/\s+/g, " ").slice(0, LONGEST_EXCERPT);
  return new ApiError(
    response.status,
    REASONS[response.status] ?? "",
    excerpt === "" ? withoutMessage(response.status) : excerpt,
    { retryAfterMs },
  );
}

/**
 * The error of a Status object: the body of a response, or the object of a watch's ERROR event. The
 * HTTP status is the object's `code` when none is given, and 500 without either.
 */
export function statusError(
  body: unknown,
  response: { readonly status?: number; readonly retryAfterMs?: number | undefined } = {},
): ApiError {
  const { code, reason, message, details } = objectOf(body);
  const { causes, retryAfterSeconds } = objectOf(details);
  const status = response.status ?? numberOf(code) ?? 500;
  return new ApiError(
    status,
    textOf(reason) ?? REASONS[status] ?? "",
    textOf(message) ?? withoutMessage(status),
    {
      causes: listOf(causes).flatMap((cause) => textOf(objectOf(cause).reason) ?? []),
      retryAfterMs: response.retryAfterMs || 1000 * (numberOf(retryAfterSeconds) ?? 0),
    },
  );
}

/** The error of a request that has no response, or one that can't be read. */
export function noResponseError(
  error: unknown,
  { request, timeout, responded = false }: {
    readonly request: KubeRequest;
    readonly timeout: RequestTimeout;
    /** Whether the response had begun. */
    readonly responded?: boolean;
  },
): ApiError {
  const what = `${request.method ?? "GET"} ${request.path}`;
  const failed = (reason: string, why: string): ApiError =>
    new ApiError(0, reason, `${what}: ${why}`, { cause: error });
  if (timeout.exceededMs !== undefined) {
    return failed("Timeout", `nothing came for ${timeout.exceededMs} ms`);
  }
  if (request.signal?.aborted) return failed("Aborted", "aborted");
  const message = failureMessage(error);
  if (error instanceof SyntaxError) {
    return failed("BadAnswer", `the answer is not JSON: ${message}`);
  }
  return failed(responded ? "Broken" : "Unreachable", message);
}

function withoutMessage(status: number): string {
  return `the server answered ${status} without a message`;
}

/** Seconds or an HTTP date (RFC 9110, section 10.2.3), as ms from now. */
function retryAfter(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d+$/.test(header.trim())) return Number(header) * 1000;
  const dateMs = Date.parse(header);
  return Number.isNaN(dateMs) ? undefined : Math.max(0, dateMs - nowMs);
}
