/**
 * The routes that an API server calls before it stores objects. Without a framework: creating its streams
 * takes longer than most answers.
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

/** An answered request, for metrics; all labels have values from closed lists. */
export interface AdmissionAnswer {
  /** The path of the route. */
  readonly route: string;
  /** Empty where the request was no review. */
  readonly operation: AdmissionRequest["operation"] | "";
  /** `failed` when any mutator failed, `malformed` when the request was no review. */
  readonly result: "patched" | "unchanged" | "failed" | "malformed";
  /** From when it was read to its answer, ms. */
  readonly tookMs: number;
}

/** Observes each request. */
export interface AdmissionObserver {
  answered(answer: AdmissionAnswer): void;
}

/** Parts of the routes. */
export interface AdmissionRoutesOptions {
  /** Paths, for instance `/mutate/pods`. */
  readonly routes: readonly string[];
  /** Called in this order at each route: each ignores kinds of objects that it does not mutate. */
  readonly mutators: readonly Mutator[];
  readonly clock: Clock;
  readonly log: Log;
  readonly observer: AdmissionObserver;
}

/** Time for the mutators of one request, ms: the creation of the pod waits for it. */
const WITHIN_MS = 200;

/** Longest body: an object of the API has 1.5 MiB at most, and an update has the old one, too. */
const MAX_BYTES = 3 * 1024 * 1024;

/**
 * Creates an app with these routes. It answers 400 with a message to a body that is too long or no
 * review, 404 to other paths and methods, and 500 without a message where a route throws.
 */
export function admissionRoutes(
  { routes, mutators, clock, log, observer }: AdmissionRoutesOptions,
): PostApp {
  const decoder = new TextDecoder();

  async function reviewed(
    request: AdmissionRequest,
    route: string,
  ): Promise<Pick<AdmissionAnswer, "operation" | "result"> & { readonly review: unknown }> {
    const { uid, operation, namespace, name } = request;
    const options = { clock, withinMs: WITHIN_MS };
    const { patch, warnings, failures } = await runMutators(request, mutators, options);
    for (const failure of failures) {
      log.warn("A mutator failed", { ...failure, route, uid, operation, namespace, name });
    }
    const outcome = patch.length === 0 ? "unchanged" : "patched";
    const result = failures.length > 0 ? "failed" : outcome;
    return { operation, result, review: admissionAnswer(uid, { patch, warnings }) };
  }

  return {
    async answer({ method, target, body }) {
      const [route = ""] = target.split("?", 1);
      if (method !== "POST" || !routes.includes(route)) {
        return { status: 404, text: "404 Not Found" };
      }
      const beganMs = clock.monotonic();
      const tookMs = (): number => clock.monotonic() - beganMs;
      try {
        const request = requestIn(body, decoder);
        if (request instanceof Error) {
          observer.answered({ route, operation: "", result: "malformed", tookMs: tookMs() });
          // At `debug`, since any client that reaches the port could fill the log.
          log.debug("Admission review refused", { route, error: request.message });
          return { status: 400, text: `${request.message}\n` };
        }
        const { operation, result, review } = await reviewed(request, route);
        observer.answered({ route, operation, result, tookMs: tookMs() });
        return { status: 200, type: "application/json", text: JSON.stringify(review) };
      } catch (error) {
        log.error("A route of the webhook failed", { error: String(error) });
        return { status: 500, text: "internal error\n" };
      }
    },
  };
}

function requestIn(body: Uint8Array, decoder: TextDecoder): AdmissionRequest | Error {
  if (body.length > MAX_BYTES) {
    return new RangeError(
      `Cannot read an admission review: it has more than ${MAX_BYTES} bytes`,
    );
  }
  try {
    return parseAdmissionReview(decoder.decode(body));
  } catch (error) {
    return error instanceof Error ? error : new TypeError(String(error));
  }
}
