/**
 * The text of an answer that must not be long.
 *
 * @module
 */

/**
 * The body as text; undefined, and the rest is not read, when it has more than `mostBytes`. Rejects
 * when it breaks off, or `signal` is aborted first.
 */
export async function boundedText(
  response: Pick<Response, "body">,
  { mostBytes, signal }: { readonly mostBytes: number; readonly signal: AbortSignal },
): Promise<string | undefined> {
  const reader = response.body?.getReader();
  if (reader === undefined) return "";
  // Deno 2.9 forgets a fetch's signal after some thousand reads: the reader is ended here.
  const giveUp = (): void => void reader.cancel().catch(() => {});
  signal.addEventListener("abort", giveUp, { once: true });
  const decoder = new TextDecoder();
  let bytes = 0;
  let text = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (signal.aborted) throw new DOMException("the wait is over", "AbortError");
      if (done) return text + decoder.decode();
      bytes += value.length;
      if (bytes > mostBytes) return undefined;
      text += decoder.decode(value, { stream: true });
    }
  } finally {
    signal.removeEventListener("abort", giveUp);
    // Rejects when the body is broken already: there is nothing left to give back then.
    await reader.cancel().catch(() => {});
  }
}
