/**
 * The port to a Prometheus that is asked for values of the present moment.
 *
 * @module
 */

/** One series or scalar of an answer. */
export interface InstantSample {
  /** May be NaN, infinite or negative: queries can say anything. */
  readonly value: number;
  /** The time that it speaks of, ms since 1970, by the server's clock. */
  readonly atMs: number;
}

/**
 * Why a server gave no samples. `unreachable`: it said nothing, or not now. `refused`: it can't do such
 * a query. `unreadable`: the answer does not fit it.
 */
export type AnswerProblem = "unreachable" | "refused" | "unreadable";

/** The answer of a server; the message is a sentence. */
export type InstantAnswer =
  | { readonly samples: readonly InstantSample[] }
  | { readonly problem: AnswerProblem; readonly message: string };

/** A question to a server. */
export interface InstantQuestion {
  /** Its address, for instance `http://prometheus.monitoring:9090`. */
  readonly server: string;
  /** PromQL. */
  readonly query: string;
}

/** Asks for values of the present moment. */
export interface InstantQueries {
  /** Resolves within seconds, whatever happens; `signal` ends the wait. */
  ask(question: InstantQuestion, signal: AbortSignal): Promise<InstantAnswer>;
}
