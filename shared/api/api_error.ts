/**
 * An error of the Kubernetes API.
 *
 * @module
 */

/** A server is not asked less often than this, ms, whatever it answers: it may be a proxy's mistake. */
export const LONGEST_RETRY_AFTER_MS = 60_000;

/** The server's refusal, or the failure to reach it (status 0). */
export class ApiError extends Error {
  /** HTTP status; 0 when there was no answer at all. */
  readonly status: number;
  /** The `reason` of the Status object, for instance `Conflict`; empty when there was none. */
  readonly reason: string;
  /** From the Retry-After header, in milliseconds; {@linkcode LONGEST_RETRY_AFTER_MS} at most. */
  readonly retryAfterMs?: number;
  /** The reasons in the Status object's `details.causes`, for instance `NodeCapacity`. */
  readonly causes: readonly string[];

  /** An error as the server worded it. */
  constructor(
    status: number,
    reason: string,
    message: string,
    options: {
      retryAfterMs?: number | undefined;
      cause?: unknown;
      causes?: readonly string[];
    } = {},
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = "ApiError";
    this.status = status;
    this.reason = reason;
    this.causes = options.causes ?? [];
    if (options.retryAfterMs !== undefined && options.retryAfterMs > 0) {
      this.retryAfterMs = Math.min(options.retryAfterMs, LONGEST_RETRY_AFTER_MS);
    }
  }
}
