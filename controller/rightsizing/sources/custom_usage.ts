/**
 * Usage from a user's own server: `docs/custom-usage-source.md`. The shortest example of a source.
 *
 * @module
 */
import * as z from "zod";
import {
  boundedFetch,
  type BoundedRequest,
  jsonOrUndefined,
} from "../../../adapters/bounded_fetch.ts";
import { type Kind, refusalOf, valueOf } from "../../../shared/config/kinds.ts";
import { namedTableKind } from "../../../shared/config/map_kinds.ts";
import {
  type LoginFiles,
  readLoginFiles,
  serverURLKind,
} from "../../../shared/config/server_kinds.ts";
import { setting } from "../../../shared/config/setting.ts";
import { quotedText } from "../../../shared/quoted_text.ts";
import type { UsageConnections, UsageProblem, UsageSource } from "../ports.ts";
import { CollectedSamples } from "./collected_samples.ts";

/** A user's own server, and how to log in to it. */
export interface CustomSource {
  readonly url: string;
  readonly login: LoginFiles;
}

/** Sources by the name in policies. */
export type CustomSourceTable = ReadonlyMap<string, CustomSource>;

/** A map of names to addresses, each with an optional login; may be empty. */
export const customSourceTableKind: Kind<CustomSourceTable> = namedTableKind({
  expects: "a map of names to addresses, which may be followed by tokenFile=FILE, or user=NAME " +
    "passwordFile=FILE, and caFile=FILE",
  noun: "a source",
  read(text) {
    const [address = "", ...terms] = text.trim().split(/\s+/);
    const url = valueOf(serverURLKind, address);
    const login = readLoginFiles(terms.join(" "));
    if (url === undefined) {
      const reason = refusalOf(serverURLKind, address) ??
        "it does not begin with the address of a server";
      return { fault: `: ${reason}` };
    }
    return "fault" in login ? { fault: `: ${login.fault}` } : { value: { url, login } };
  },
});

/** The settings of this source alone. */
export const CUSTOM_SETTINGS = {
  customSources: setting("rightsizing.customSources", {
    kind: customSourceTableKind,
    default: "",
    description: "Usage servers that policies with the provider custom can name. In the file only",
    onlyBy: "file",
  }),
};

/** The source of this name in the settings, or why there is none. */
export function connectCustomUsage(
  { settings, loginOf }: UsageConnections<{ readonly customSources: CustomSourceTable }>,
  name = "",
): UsageSource | UsageProblem {
  const { customSources } = settings();
  const found = customSources.get(name);
  if (found !== undefined) {
    return createCustomUsageSource({ url: found.url, login: loginOf(found.login) });
  }
  const names = [...customSources.keys()].join(", ");
  const known = names === "" ? "are none" : `are: ${names}`;
  const message = `no custom source ${quotedText(name)} is configured; there ${known}`;
  return { problem: "unavailable", message };
}

/** The version of the protocol; a response may repeat it. */
const VERSION = 1;

const seriesSchema = z.array(z.tuple([z.number(), z.number().nonnegative()])).default([])
  .transform((pairs) => ({
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

/** Address, login and bounds of a response. */
export interface CustomUsageOptions extends Pick<BoundedRequest, "url" | "login"> {
  /** @default {15000} */
  readonly timeoutMs?: number;
  /** @default {16777216, which is 16 MiB} */
  readonly maxBytes?: number;
}

/** A source at this server; leaves out samples outside of the window or of other containers. */
export function createCustomUsageSource(
  { timeoutMs = 15_000, maxBytes = 16 * 1024 * 1024, ...server }: CustomUsageOptions,
): UsageSource {
  return {
    async usage(query, signal) {
      const { namespace, workload, pods, containers, window } = query;
      const samples = new CollectedSamples(query);
      if (containers.length === 0) return { usage: samples.usage() };
      const body = { version: VERSION, namespace, workload, pods, containers, window };
      const answer = await boundedFetch(
        { program: "controller", ...server, body, timeoutMs, maxBytes },
        signal,
      );
      if ("failed" in answer) return { problem: "unreachable", message: answer.failed };
      const { status, text } = answer;
      if (status !== 200) return refusal(status, text);
      if (text === undefined) {
        return { problem: "unreadable", message: `the answer has more than ${maxBytes} bytes` };
      }
      const { data, error } = answerSchema.safeParse(jsonOrUndefined(text));
      if (data === undefined) return unreadable(error);
      for (const [container, usage] of Object.entries(data.containers)) {
        samples.add(usage.cpuMillicores, { container, resource: "cpu" });
        samples.add(usage.memoryBytes, { container, resource: "memory" });
      }
      return { usage: samples.usage() };
    },
  };
}

function refusal(status: number, text: string | undefined): UsageProblem {
  if (status >= 300 && status < 400) {
    return { problem: "unreachable", message: `HTTP ${status}: it sends on to another place` };
  }
  const error = refusalSchema.safeParse(jsonOrUndefined(text)).data?.error;
  const reason = error === undefined ? "" : `: ${quotedText(error, MOST_CHARACTERS)}`;
  const problem = REFUSALS.includes(status) ? "refused" : "unreachable";
  return { problem, message: `HTTP ${status}${reason}` };
}

function unreadable({ issues: [issue] }: z.ZodError): UsageProblem {
  const where = issue === undefined ? "" : `${issue.path.join(".")}: ${issue.message}`;
  const message = `the answer is not in the shape of a usage source: ${quotedText(where, 200)}`;
  return { problem: "unreadable", message };
}
