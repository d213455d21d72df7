/**
 * What the webhook's servers serve: a few routes, each of which is sent a text and answers with one. A
 * framework's requests and answers are streams, which take longer to make than most answers.
 *
 * @module
 */
import type { Log } from "../../shared/log.ts";

/** A request whose body was read. */
export interface PostRequest {
  /** For instance `POST`. */
  readonly method: string;
  /** With its query, for instance `/mutate/pods?timeout=2s`. */
  readonly target: string;
  readonly body: Uint8Array;
}

/** An answer. */
export interface PostAnswer {
  readonly status: number;
  /** @default {"text/plain"} */
  readonly type?: string;
  readonly text: string;
}

/** Answers requests. */
export interface PostApp {
  answer(request: PostRequest): Promise<PostAnswer>;
}

/** What is done on a route. */
export type PostRoute = (body: string) => Promise<PostAnswer>;

/** What the routes are served with. */
export interface PostAppOptions {
  /** Longest body, bytes. */
  readonly mostBytes: number;
  /** Answers in the place of the route to whoever sends a longer one. */
  readonly tooLong: (path: string) => PostAnswer;
  readonly log: Log;
}

/** An answer of JSON. */
export function jsonAnswer(value: unknown): PostAnswer {
  return { status: 200, type: "application/json", text: JSON.stringify(value) };
}

/** An app with these routes, by path. Answers 404 to all else, and 500 without words where one breaks. */
export function createPostApp(
  routes: Readonly<Record<string, PostRoute>>,
  { mostBytes, tooLong, log }: PostAppOptions,
): PostApp {
  const known = new Map(Object.entries(routes));
  const decoder = new TextDecoder();
  return {
    async answer({ method, target, body }) {
      const [path = ""] = target.split("?", 1);
      const route = method === "POST" ? known.get(path) : undefined;
      if (route === undefined) return { status: 404, text: "404 Not Found" };
      try {
        if (body.length > mostBytes) return tooLong(path);
        return await route(decoder.decode(body));
      } catch (error) {
        log.error("A route of the webhook failed", { error: String(error) });
        return { status: 500, text: "internal error\n" };
      }
    },
  };
}
