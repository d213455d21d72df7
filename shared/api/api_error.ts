/**
 * What the Kubernetes API answers when it says no.
 *
 * @module
 */

/** The server's refusal, or the failure to reach it (status 0). */
export class ApiError extends Error {
  /** HTTP status; 0 when there was no answer at all. */
  readonly status: number;
  /** The `reason` word of the Status object, for instance `Conflict`; empty when there was none. */
  readonly reason: string;
  /** From the Retry-After header, in milliseconds. */
  readonly retryAfterMs?: number;
  /** The `reason` words of the Status object's `details.causes`, for instance `NodeCapacity`. */
  readonly causes: readonly string[];

  /** An error as the server worded it. */
  constructor(
    status: number,
    reason: string,
    message: string,
    options: { retryAfterMs?: number; cause?: unknown; causes?: readonly string[] } = {},
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = "ApiError";
    this.status = status;
    this.reason = reason;
    this.causes = options.causes ?? [];
    if (options.retryAfterMs !== undefined) this.retryAfterMs = options.retryAfterMs;
  }
}
