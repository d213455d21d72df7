/**
 * One request to a Prometheus's query API: a GET that ends in time, follows nobody, and takes no
 * endless answer.
 *
 * @module
 */
import { z } from "zod";
import { quotedText } from "../../shared/quoted_text.ts";
import { boundedExchange } from "../bounded_exchange.ts";
import type { HTTPLogin } from "../http_login.ts";

/** Why there is no data. */
export interface PrometheusProblem {
  readonly problem: "unreachable" | "refused" | "unreadable";
  /** In a sentence. */
  readonly message: string;
  /** Present where a smaller question might be answered. */
  readonly tooMuch?: true;
}

/** An answer, whose shape is the question's matter. */
export interface PrometheusAnswer {
  readonly data: unknown;
  /** What the server says beside it: of a store that did not answer it, for instance. */
  readonly warnings?: readonly string[] | undefined;
}

/** What became of a request. */
export type PrometheusData = PrometheusAnswer | PrometheusProblem;

/** What is asked, and how long it may take. */
export interface PrometheusRequest {
  /** For instance `http://prometheus.monitoring:9090`. */
  readonly server: string;
  /** For instance `/api/v1/query`. */
  readonly path: string;
  readonly parameters: Readonly<Record<string, string>>;
  /** Absent: nobody in particular asks. */
  readonly login?: HTTPLogin;
  readonly timeoutMs: number;
  readonly mostBytes: number;
  /** JSON, or what is as good; throws a `SyntaxError`. @default {JSON.parse} */
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

/** The server's word on the question itself; every other failure is one of the moment. */
const REFUSALS: readonly string[] = ["bad_data", "execution", "not_found"];
/** What Prometheus says beyond `--query.max-samples`, and beyond 11,000 points a series. */
const TOO_MUCH = /too many samples|exceeded maximum resolution/;
/** Longer ones repeat a long query. */
const MOST_WORDS = 300;

/** Asks once. Never rejects. */
export async function requestPrometheus(
  request: PrometheusRequest,
  signal: AbortSignal,
): Promise<PrometheusData> {
  const { server, path, parameters, parse = JSON.parse, ...rest } = request;
  const url = `${server}${path}?${new URLSearchParams(parameters)}`;
  const answer = await boundedExchange({ url, ...rest }, signal);
  if ("failed" in answer) return { problem: "unreachable", message: answer.failed };
  return dataOf(answer, { mostBytes: request.mostBytes, parse });
}

function dataOf(
  { status, headers, text }: {
    readonly status: number;
    readonly headers: Headers;
    readonly text: string | undefined;
  },
  { mostBytes, parse }: Required<Pick<PrometheusRequest, "mostBytes" | "parse">>,
): PrometheusData {
  if (status >= 300 && status < 400) {
    const to = headers.get("location") ?? "nowhere";
    return { problem: "unreachable", message: `HTTP ${status}: it sends on to ${quoted(to)}` };
  }
  if (text === undefined) {
    const message = `the answer has more than ${mostBytes} bytes`;
    return { problem: "unreadable", message, tooMuch: true };
  }
  const answer = answerSchema.safeParse(jsonOf(text, parse)).data;
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

function jsonOf(text: string, parse: (text: string) => unknown): unknown {
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/**
 * Why an answer is not the whole one; undefined where it is. A server that asks others (Thanos, Mimir,
 * remote read) answers without those that are silent, and warns. Words on the query itself hide nothing.
 */
export function partialAnswer({ warnings = [] }: PrometheusAnswer): PrometheusProblem | undefined {
  const words = warnings.find((one) => !one.startsWith("PromQL info:"));
  return words === undefined
    ? undefined
    : { problem: "unreachable", message: `the answer is a partial one: ${quoted(words)}` };
}

function quoted(words: string): string {
  return quotedText(words, { most: MOST_WORDS });
}
