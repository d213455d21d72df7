/**
 * One request to the query API of Prometheus: a GET with a timeout, without redirects, and with a
 * bound on the response's length.
 *
 * @module
 */
import { z } from "zod";
import { quotedText } from "../../shared/quoted_text.ts";
import { boundedFetch, jsonOrUndefined } from "../bounded_fetch.ts";
import type { HTTPLogin } from "../http_login.ts";

/** Why there is no data. */
export interface PrometheusProblem {
  readonly problem: "unreachable" | "refused" | "unreadable";
  /** In a sentence. */
  readonly message: string;
  /** Present where a query of a shorter range might succeed. */
  readonly tooMuch?: true;
}

/** The data of a response, with a shape that depends on the query. */
export interface PrometheusAnswer {
  readonly data: unknown;
  /** The server's warnings: of a store that did not respond, for instance. */
  readonly warnings?: readonly string[] | undefined;
}

/** The outcome of a request. */
export type PrometheusData = PrometheusAnswer | PrometheusProblem;

/** A request and its bounds. */
export interface PrometheusRequest {
  /** The program, for the header `User-Agent`. */
  readonly program: string;
  /** For instance `http://prometheus.monitoring:9090`. */
  readonly server: string;
  /** For instance `/api/v1/query`. */
  readonly path: string;
  readonly parameters: Readonly<Record<string, string>>;
  /** Absent: anonymous. */
  readonly login?: HTTPLogin;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  /** Parses the body; throws a `SyntaxError`. @default {JSON.parse} */
  readonly parse?: (text: string) => unknown;
}

const answerSchema = z.discriminatedUnion("status", [
  z.object({
    status: z.literal("success"),
    data: z.unknown(),
    warnings: z.array(z.string()).optional(),
  }),
  z.object({
    status: z.literal("error"),
    errorType: z.string().max(64).regex(/^\w*$/),
    error: z.string(),
  }),
]);

/** Error types of a query that the server rejects; others are temporary. */
const REFUSALS: readonly string[] = ["bad_data", "execution", "not_found"];
/** Prometheus' messages beyond `--query.max-samples`, and beyond 11,000 points per series. */
const TOO_MUCH = /too many samples|exceeded maximum resolution/;
/** Characters of a message: longer ones repeat a long query. */
const MAX_CHARACTERS = 300;

/** Sends the request. Never rejects. */
export async function requestPrometheus(
  request: PrometheusRequest,
  signal: AbortSignal,
): Promise<PrometheusData> {
  const { server, path, parameters, parse = JSON.parse, ...rest } = request;
  const url = `${server}${path}?${new URLSearchParams(parameters)}`;
  const answer = await boundedFetch({ url, ...rest }, signal);
  if ("failed" in answer) return { problem: "unreachable", message: answer.failed };
  return dataOf(answer, { maxBytes: request.maxBytes, parse });
}

function dataOf(
  { status, headers, text }: {
    readonly status: number;
    readonly headers: Headers;
    readonly text: string | undefined;
  },
  { maxBytes, parse }: Required<Pick<PrometheusRequest, "maxBytes" | "parse">>,
): PrometheusData {
  if (status >= 300 && status < 400) {
    const location = headers.get("location") ?? "nowhere";
    return {
      problem: "unreachable",
      message: `HTTP ${status}: it sends on to ${quoted(location)}`,
    };
  }
  if (text === undefined) {
    const message = `the answer has more than ${maxBytes} bytes`;
    return { problem: "unreadable", message, tooMuch: true };
  }
  const answer = answerSchema.safeParse(jsonOrUndefined(text, parse)).data;
  if (answer?.status === "success" && status === 200) return answer;
  if (answer?.status === "error") {
    const { errorType, error } = answer;
    const problem = REFUSALS.includes(errorType) ? "refused" : "unreachable";
    const message = `${errorType}: ${quoted(error)}`;
    return TOO_MUCH.test(error) ? { problem, message, tooMuch: true } : { problem, message };
  }
  return status === 200
    ? { problem: "unreadable", message: "the answer is not one of Prometheus's query API" }
    : { problem: "unreachable", message: `HTTP ${status}` };
}

/**
 * The problem of an incomplete response; undefined for a complete one. A server that queries others
 * (Thanos, Mimir, remote read) leaves out those that don't respond, and warns. Notes on the query
 * itself (`PromQL info:`) do not mean that data is missing.
 */
export function partialAnswer({ warnings = [] }: PrometheusAnswer): PrometheusProblem | undefined {
  const warning = warnings.find((one) => !one.startsWith("PromQL info:"));
  return warning === undefined
    ? undefined
    : { problem: "unreachable", message: `the answer is a partial one: ${quoted(warning)}` };
}

function quoted(text: string): string {
  return quotedText(text, MAX_CHARACTERS);
}
