/**
 * One request to a Prometheus's query API: a GET that ends in time, follows nobody, and takes no
 * endless answer.
 *
 * @module
 */
import { z } from "zod";
import { quotedText } from "../../shared/quoted_text.ts";
import { failureWords } from "../failure_words.ts";
import { createPatience } from "../patience.ts";
import { boundedText } from "./bounded_text.ts";

/** Why there is no data. */
export interface PrometheusProblem {
  readonly problem: "unreachable" | "refused" | "unreadable";
  /** In a sentence. */
  readonly message: string;
}

/** The `data` of an answer, whose shape is the question's matter. */
export type PrometheusData = { readonly data: unknown } | PrometheusProblem;

/** What is asked, and how long it may take. */
export interface PrometheusRequest {
  /** For instance `http://prometheus.monitoring:9090`. */
  readonly server: string;
  /** For instance `/api/v1/query`. */
  readonly path: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly mostBytes: number;
}

const answerSchema = z.discriminatedUnion("status", [
  z.object({ status: z.literal("success"), data: z.unknown() }),
  z.object({
    status: z.literal("error"),
    errorType: z.string().max(64).regex(/^\w*$/),
    error: z.string(),
  }),
]);

/** The server's word on the question itself; every other failure is one of the moment. */
const REFUSALS: readonly string[] = ["bad_data", "execution", "not_found"];
/** Longer ones repeat a long query. */
const MOST_WORDS = 300;

/** Asks once. Never rejects. */
export async function requestPrometheus(
  request: PrometheusRequest,
  signal: AbortSignal,
): Promise<PrometheusData> {
  const { server, path, parameters, timeoutMs, mostBytes } = request;
  const patience = createPatience(signal);
  patience.start(timeoutMs);
  try {
    const response = await fetch(`${server}${path}?${new URLSearchParams(parameters)}`, {
      redirect: "manual",
      headers: { accept: "application/json" },
      signal: patience.signal,
    });
    const text = await boundedText(response, { mostBytes, signal: patience.signal });
    return dataOf({ response, text, mostBytes });
  } catch (error) {
    const message = patience.exceededMs === undefined
      ? failureWords(error)
      : `nothing came for ${patience.exceededMs} ms`;
    return { problem: "unreachable", message };
  } finally {
    patience.end();
  }
}

function dataOf(
  { response: { status, headers }, text, mostBytes }: {
    readonly response: Response;
    readonly text: string | undefined;
    readonly mostBytes: number;
  },
): PrometheusData {
  if (status >= 300 && status < 400) {
    const to = headers.get("location") ?? "nowhere";
    return { problem: "unreachable", message: `HTTP ${status}: it sends on to ${quoted(to)}` };
  }
  if (text === undefined) {
    return { problem: "unreadable", message: `the answer has more than ${mostBytes} bytes` };
  }
  const answer = answerSchema.safeParse(jsonOf(text)).data;
  if (answer?.status === "success" && status === 200) return answer;
  if (answer?.status === "error") {
    const { errorType, error } = answer;
    const problem = REFUSALS.includes(errorType) ? "refused" : "unreachable";
    return { problem, message: `${errorType}: ${quoted(error)}` };
  }
  return status === 200
    ? { problem: "unreadable", message: "the answer is not one of Prometheus's query API" }
    : { problem: "unreachable", message: `HTTP ${status}` };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function quoted(words: string): string {
  return quotedText(words, { most: MOST_WORDS });
}
