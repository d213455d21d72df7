/**
 * Errors that the node or the user's rights cause; all others are faults of the program.
 *
 * @module
 */
import { NO_LAYOUT } from "../shared/cgroup/layout.ts";

/** Whether the message alone helps: the node is not as it should be, or may not be read. */
export function isNodeError(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  return error.cause === NO_LAYOUT || error instanceof Deno.errors.NotFound ||
    error instanceof Deno.errors.NotCapable || error instanceof Deno.errors.PermissionDenied ||
    isSystemError(error);
}

/** Whether the operating system refused, with EIO or EMFILE for instance. */
function isSystemError(error: Error): boolean {
  return "code" in error && typeof error.code === "string" && /^E[A-Z0-9]+$/.test(error.code);
}
