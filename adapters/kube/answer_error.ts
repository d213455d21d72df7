/**
 * From what a server answers to a typed error.
 *
 * @module
 */
import { ApiError } from "../../shared/api/api_error.ts";
import { listOf, numberOf, objectOf, textOf } from "./json_fields.ts";

/** An answer that is no success. */
export interface FailedAnswer {
  readonly status: number;
  /** The body, whatever it is: a Status object, HTML of a proxy, plain words. */
  readonly text: string;
  /** The Retry-After header. */
  readonly retryAfter?: string | null;
}

/** Reason words of the server's own errors (k8s.io/apimachinery/pkg/apis/meta/v1, StatusReason). */
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

/** The longest part of a body that is no Status object to stand in a message. */
const LONGEST_EXCERPT = 200;

/** The error that an answer stands for; `nowMs` is the wall clock, for a Retry-After with a date. */
export function answerError(answer: FailedAnswer, nowMs: number): ApiError {
  const retryAfterMs = retryAfter(answer.retryAfter ?? undefined, nowMs);
  const body = parseOrUndefined(answer.text);
  if (objectOf(body).kind === "Status") {
    return statusError(body, { status: answer.status, ...optionalWait(retryAfterMs) });
  }
  const excerpt = answer.text.trim().replace(/\s+/g, " ").slice(0, LONGEST_EXCERPT);
  return new ApiError(
    answer.status,
    REASONS[answer.status] ?? "",
    excerpt === "" ? `the server answered ${answer.status} without a word` : excerpt,
    optionalWait(retryAfterMs),
  );
}

/**
 * The error that a Status object stands for: the body of a refusal, or the object of a watch's ERROR
 * event. The HTTP status is the object's `code` when none is given, and 500 without either.
 */
export function statusError(
  body: unknown,
  answer: { readonly status?: number; readonly retryAfterMs?: number } = {},
): ApiError {
  const { code, reason, message, details } = objectOf(body);
  const { causes, retryAfterSeconds } = objectOf(details);
  const status = answer.status ?? numberOf(code) ?? 500;
  const seconds = numberOf(retryAfterSeconds);
  const waitMs = answer.retryAfterMs ?? (seconds === undefined ? undefined : seconds * 1000);
  return new ApiError(
    status,
    textOf(reason) ?? REASONS[status] ?? "",
    textOf(message) ?? `the server answered ${status} without a word`,
    {
      causes: listOf(causes).flatMap((cause) => textOf(objectOf(cause).reason) ?? []),
      ...optionalWait(waitMs),
    },
  );
}

function optionalWait(retryAfterMs: number | undefined): { retryAfterMs?: number } {
  return retryAfterMs === undefined || retryAfterMs <= 0 ? {} : { retryAfterMs };
}

/** Seconds or an HTTP date (RFC 9110, section 10.2.3), as ms from now. */
function retryAfter(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d+$/.test(header.trim())) return Number(header) * 1000;
  const dateMs = Date.parse(header);
  return Number.isNaN(dateMs) ? undefined : Math.max(0, dateMs - nowMs);
}

function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
