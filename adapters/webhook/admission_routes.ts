/**
 * The routes that an API server calls before it stores objects. No framework: its requests and answers
 * are streams, which take longer to make than most answers.
 *
 * @module
 */
import {
  admissionAnswer,
  type AdmissionRequest,
  parseAdmissionReview,
} from "../../shared/admission/admission_review.ts";
import { type Mutator, runMutators } from "../../shared/admission/run_mutators.ts";
import type { Clock } from "../../shared/clock.ts";
import type { Log } from "../../shared/log.ts";

/** A request and its body. */
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

/**
 * The outcome of a request: `failed` when a mutator failed, whatever the others did, and `malformed`
 * when it was no review.
 */
export type AdmissionResult = "patched" | "unchanged" | "failed" | "malformed";

/** A request for metrics; each field has values from a closed list. */
export interface AdmissionFact {
  /** The path of the route. */
  readonly route: string;
  /** Empty where the request was no review. */
  readonly operation: AdmissionRequest["operation"] | "";
  readonly result: AdmissionResult;
  /** From when it was read to its answer, ms. */
  readonly tookMs: number;
}

/** Observes each request. */
export interface AdmissionObserver {
  answered(fact: AdmissionFact): void;
}

/** The mutators of each route, and the dependencies. */
export interface AdmissionRoutesOptions {
  /** Paths with the mutators that are asked there, in this order; for instance `/mutate/pods`. */
  readonly routes: Readonly<Record<string, readonly Mutator[]>>;
  readonly clock: Clock;
  readonly log: Log;
  readonly observer: AdmissionObserver;
  /**
   * Time for the mutators of one request, ms. The server waits two seconds (`timeoutSeconds`), and
   * every pod that is made waits as long as this.
   *
   * @default {200}
   */
  readonly withinMs?: number;
  /**
   * Longest body. An object of the API has 1.5 MiB at most, and an update comes with the old one.
   *
   * @default {3145728}
   */
  readonly mostBytes?: number;
}

const DEFAULT_MOST_BYTES = 3 * 1024 * 1024;

/**
 * Makes an app with these routes. It answers 400 with a message to a body that is too long or no
 * review, 404 to other paths and methods, and 500 without a message where a route throws.
 */
export function admissionRoutes(options: AdmissionRoutesOptions): PostApp {
  const { routes, clock, log, observer } = options;
  const { withinMs = 200, mostBytes = DEFAULT_MOST_BYTES } = options;
  const known = new Map(Object.entries(routes));
  const decoder = new TextDecoder();

  function refused(route: string, { message, tookMs }: {
    readonly message: string;
    readonly tookMs: number;
  }): PostAnswer {
    observer.answered({ route, operation: "", result: "malformed", tookMs });
    // Any client that reaches the port can send such: a line each would let it fill the log.
    log.debug("Admission review refused", { route, error: message });
    return { status: 400, text: `${message}\n` };
  }

  async function answer(
    text: string,
    { route, mutators }: { readonly route: string; readonly mutators: readonly Mutator[] },
  ): Promise<PostAnswer> {
    const beganMs = clock.monotonic();
    let request: AdmissionRequest;
    try {
      request = parseAdmissionReview(text);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return refused(route, { message, tookMs: clock.monotonic() - beganMs });
    }
    const { patch, warnings, failures } = await runMutators(request, mutators, { clock, withinMs });
    const { uid, operation, namespace, name } = request;
    for (const failure of failures) {
      log.warn("A mutator failed", { ...failure, route, uid, operation, namespace, name });
    }
    const passed = patch.length === 0 ? "unchanged" : "patched";
    const result = failures.length > 0 ? "failed" : passed;
    observer.answered({ route, operation, result, tookMs: clock.monotonic() - beganMs });
    const review = admissionAnswer(uid, { patch, warnings });
    return { status: 200, type: "application/json", text: JSON.stringify(review) };
  }

  return {
    async answer({ method, target, body }) {
      const [route = ""] = target.split("?", 1);
      const mutators = method === "POST" ? known.get(route) : undefined;
      if (mutators === undefined) return { status: 404, text: "404 Not Found" };
      if (body.length > mostBytes) {
        const message = `Cannot read an admission review: it has more than ${mostBytes} bytes`;
        return refused(route, { message, tookMs: 0 });
      }
      try {
        return await answer(decoder.decode(body), { route, mutators });
      } catch (error) {
        log.error("A route of the webhook failed", { error: String(error) });
        return { status: 500, text: "internal error\n" };
      }
    },
  };
}
