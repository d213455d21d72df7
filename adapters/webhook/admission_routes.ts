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

/** A request for metrics; each field has values from a closed list. */
export interface AdmissionAnswer {
  /** The path of the route. */
  readonly route: string;
  /** Empty where the request was no review. */
  readonly operation: AdmissionRequest["operation"] | "";
  /** `failed` when a mutator failed, whatever the others did, and `malformed` when it was no review. */
  readonly result: "patched" | "unchanged" | "failed" | "malformed";
  /** From when it was read to its answer, ms. */
  readonly tookMs: number;
}

/** Observes each request. */
export interface AdmissionObserver {
  answered(answer: AdmissionAnswer): void;
}

/** The routes, the mutators, and the dependencies. */
export interface AdmissionRoutesOptions {
  /** Paths, for instance `/mutate/pods`. */
  readonly routes: readonly string[];
  /** Asked at each route, in this order: each ignores objects that are not its own. */
  readonly mutators: readonly Mutator[];
  readonly clock: Clock;
  readonly log: Log;
  readonly observer: AdmissionObserver;
}

/** Time for the mutators of one request, ms: every pod that is created waits for it. */
const WITHIN_MS = 200;

/** The longest body. An object of the API has 1.5 MiB at most, and an update comes with the old one. */
const MOST_BYTES = 3 * 1024 * 1024;

/**
 * Makes an app with these routes. It answers 400 with a message to a body that is too long or no
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
    const passed = patch.length === 0 ? "unchanged" : "patched";
    const result = failures.length > 0 ? "failed" : passed;
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
          // Any client that reaches the port can send such: a line each would let it fill the log.
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
  if (body.length > MOST_BYTES) {
    return new RangeError(
      `Cannot read an admission review: it has more than ${MOST_BYTES} bytes`,
    );
  }
  try {
    return parseAdmissionReview(decoder.decode(body));
  } catch (error) {
    return error instanceof Error ? error : new TypeError(String(error));
  }
}
