/**
 * The port to Prometheus' instant queries.
 *
 * @module
 */

/** One series or scalar of an answer. */
export interface InstantSample {
  /** May be NaN, infinite or negative. */
  readonly value: number;
  /** Time of the value, ms since 1970, by the server's clock. */
  readonly atMs: number;
}

/**
 * Why a server gave no samples. `unreachable`: it did not answer, or was busy. `refused`: it can't evaluate
 * the query. `unreadable`: the answer is not of the expected form.
 */
export type AnswerProblem = "unreachable" | "refused" | "unreadable";

/** The answer of a server; the message is a sentence. */
export type InstantAnswer =
  | { readonly samples: readonly InstantSample[] }
  | { readonly problem: AnswerProblem; readonly message: string };

/** A query, and the server to evaluate it. */
export interface InstantQuestion {
  /** Its address, for instance `http://prometheus.monitoring:9090`. */
  readonly server: string;
  /** PromQL. */
  readonly query: string;
}

/** Evaluates instant queries. */
export interface InstantQueries {
  /** Resolves within seconds, whatever happens; `signal` ends the wait. */
  ask(question: InstantQuestion, signal: AbortSignal): Promise<InstantAnswer>;
}
