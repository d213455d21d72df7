/**
 * What went wrong with a request, in words.
 *
 * @module
 */

/**
 * The words of a request's failure. "fetch failed" says nothing: what failed stands in its cause,
 * after the URL, which is left out.
 */
export function failureWords(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const inner = error.message === "fetch failed" && error.cause instanceof Error
    ? error.cause
    : error;
  return inner.message.replace(/^error sending request for url \([^)]*\): /, "");
}
