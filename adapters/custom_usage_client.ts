/**
 * A user's own server of usage data: `docs/custom-usage-source.md`.
 *
 * @module
 */
import { z } from "zod";
import { quotedText } from "../shared/quoted_text.ts";
import { boundedFetch, jsonOrUndefined } from "./bounded_fetch.ts";
import type { HTTPLogin } from "./http_login.ts";

/** A query for the usage of one workload. */
export interface CustomUsageQuestion {
  readonly namespace: string;
  readonly workload: { readonly kind: string; readonly name: string; readonly uid: string };
  readonly pods: readonly string[];
  readonly containers: readonly string[];
  /** Ms since 1970; excludes the first, includes the last. */
  readonly window: { readonly fromMs: number; readonly toMs: number };
}

/** Samples and their times, ms since 1970, at the same indices. */
export interface CustomSeries {
  readonly timesMs: readonly number[];
  readonly values: readonly number[];
}

/** Millicores and bytes by container, or why there are none. */
export type CustomUsage =
  | {
    readonly containers: ReadonlyMap<
      string,
      { readonly cpu: CustomSeries; readonly memory: CustomSeries }
    >;
  }
  | {
    readonly problem: "unreachable" | "refused" | "unreadable";
    /** In a sentence. */
    readonly message: string;
  };

/** Queries that server. */
export interface CustomUsageServer {
  /** Resolves within the timeout in any case; `signal` ends the wait. */
  ask(question: CustomUsageQuestion, signal: AbortSignal): Promise<CustomUsage>;
}

/** Address, login and bounds of a response. */
export interface CustomUsageOptions {
  readonly url: string;
  /** @default anonymous */
  readonly login?: HTTPLogin;
  /** @default {15000} */
  readonly timeoutMs?: number;
  /** @default {16777216, which is 16 MiB} */
  readonly mostBytes?: number;
}

/** The version of the protocol; a response may repeat it. */
const VERSION = 1;

const seriesSchema = z.array(z.tuple([z.number(), z.number().nonnegative()])).default([])
  .transform((pairs): CustomSeries => ({
    timesMs: pairs.map(([timeMs]) => timeMs),
    values: pairs.map(([, value]) => value),
  }));

const answerSchema = z.object({
  version: z.literal(VERSION).optional(),
  containers: z.record(
    z.string(),
    z.object({ cpuMillicores: seriesSchema, memoryBytes: seriesSchema }),
  ),
});

const refusalSchema = z.object({ error: z.string() });

/** Statuses by which the server rejects the query itself. */
const REFUSALS: readonly number[] = [400, 404, 422];
const MOST_CHARACTERS = 300;

/** Creates a client; its only state are open connections. */
export function createCustomUsageClient(
  { url, timeoutMs = 15_000, mostBytes = 16 * 1024 * 1024, ...login }: CustomUsageOptions,
): CustomUsageServer {
  return {
    async ask({ namespace, workload, pods, containers, window }, signal) {
      const { kind, name, uid } = workload;
      const { fromMs, toMs } = window;
      const body = {
        version: VERSION,
        namespace,
        workload: { kind, name, uid },
        pods,
        containers,
        window: { fromMs, toMs },
      };
      const answer = await boundedFetch({ url, body, timeoutMs, mostBytes, ...login }, signal);
      if ("failed" in answer) return { problem: "unreachable", message: answer.failed };
      const { status, text } = answer;
      if (status >= 300 && status < 400) {
        return { problem: "unreachable", message: `HTTP ${status}: it sends on to another place` };
      }
      if (status !== 200) {
        const error = refusalSchema.safeParse(jsonOrUndefined(text)).data?.error;
        const reason = error === undefined
          ? ""
          : `: ${quotedText(error, { most: MOST_CHARACTERS })}`;
        const problem = REFUSALS.includes(status) ? "refused" : "unreachable";
        return { problem, message: `HTTP ${status}${reason}` };
      }
      if (text === undefined) {
        return { problem: "unreadable", message: `the answer has more than ${mostBytes} bytes` };
      }
      return containersOf(text);
    },
  };
}

function containersOf(text: string): CustomUsage {
  const { success, data, error } = answerSchema.safeParse(jsonOrUndefined(text));
  if (!success) {
    const [issue] = error.issues;
    const where = issue === undefined ? "" : `${issue.path.join(".")}: ${issue.message}`;
    const message = `the answer is none of a usage source: ${quotedText(where, { most: 200 })}`;
    return { problem: "unreadable", message };
  }
  return {
    containers: new Map(
      Object.entries(data.containers).map(([name, { cpuMillicores, memoryBytes }]) => [
        name,
        { cpu: cpuMillicores, memory: memoryBytes },
      ]),
    ),
  };
}
