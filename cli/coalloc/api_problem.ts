/**
 * Refusals of the API server in a sentence that says what to do.
 *
 * @module
 */
import type { ApiError } from "../../shared/api/api_error.ts";

/** `Cannot <action>: <the server's message>; <what to do>`. */
export function explainApiError(action: string, error: ApiError): string {
  // The kubeconfig's plugin has failed, and its message says what to do.
  if (error.reason === "LoginFailed") return error.message;
  const remedy = remedyOf(error);
  const message = error.message.replace(/\.$/, "");
  return `Cannot ${action}: ${message}${remedy === "" ? "" : `; ${remedy}`}`;
}

function remedyOf({ status, message }: ApiError): string {
  if (status === 0) return "is the API server up? try kubectl cluster-info";
  if (status === 401) return "log in again, or choose another --context";
  if (status === 403 && /cannot \w+ resource/.test(message)) {
    return "ask an administrator for this right; kubectl auth can-i --list shows what you have";
  }
  if (status === 404 && /could not find the requested resource|page not found/.test(message)) {
    return "is CoAllocator installed, and does the server serve pods/resize (1.33 or newer)?";
  }
  if (status === 429 || status >= 500) return "the server is busy: try again in a moment";
  return "";
}
