/**
 * Instant queries of Prometheus.
 *
 * @module
 */
import { z } from "zod";
import type { InstantQueries } from "../../shared/instant_queries.ts";
import type { HTTPLogin } from "../http_login.ts";
import { requestPrometheus } from "./prometheus_request.ts";

/** Bounds and login of the queries. */
export interface InstantQueriesOptions {
  /** The program, for the header `User-Agent`. */
  readonly program: string;
  /** @default anonymous */
  readonly login?: HTTPLogin;
  /** @default {5000} */
  readonly timeoutMs?: number;
  /** @default {65536} */
  readonly maxBytes?: number;
}

/** Unix time in seconds, and a float as text: `NaN`, `+Inf` and `-Inf` among them. */
const sampleSchema = z.tuple([z.number(), z.string()]).transform(([atS, text]) => ({
  value: floatOf(text),
  atMs: 1000 * atS,
}));

const dataSchema = z.discriminatedUnion("resultType", [
  z.object({
    resultType: z.literal("vector"),
    // A native histogram has no `value`.
    result: z.array(z.object({ value: sampleSchema })),
  }),
  z.object({ resultType: z.literal("scalar"), result: sampleSchema }),
]);

/** Creates a client of `GET /api/v1/query`. */
export function createInstantQueries(
  { timeoutMs = 5000, maxBytes = 65_536, ...request }: InstantQueriesOptions,
): InstantQueries {
  return {
    async ask({ server, query }, signal) {
      // The server stops at the timeout, too. Since 3.0 it limits the series: two show that there are several.
      const parameters = { query, timeout: `${timeoutMs}ms`, limit: "2" };
      const path = "/api/v1/query";
      const answer = await requestPrometheus(
        { server, path, parameters, timeoutMs, maxBytes, ...request },
        signal,
      );
      if ("problem" in answer) return answer;
      const { success, data } = dataSchema.safeParse(answer.data);
      if (!success) {
        return {
          problem: "unreadable",
          message: "the query gives no instant vector of numbers and no scalar",
        };
      }
      const { resultType, result } = data;
      return { samples: resultType === "scalar" ? [result] : result.map(({ value }) => value) };
    },
  };
}

function floatOf(text: string): number {
  if (/^[+-]?Inf$/.test(text)) return text.startsWith("-") ? -Infinity : Infinity;
  return text.trim() === "" ? NaN : Number(text);
}
