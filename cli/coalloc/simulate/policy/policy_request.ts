/**
 * What `simulate --policy` is asked for, from its flags. Pure.
 *
 * @module
 */
import type { ResourceName } from "../../../../shared/api/pod.ts";
import type { TraceFormat } from "../../../../lab/simulation/trace.ts";
import type { OutputFormat } from "../../output.ts";
import type { HistorySource } from "../simulate_request.ts";

/** What the user asked for. */
export interface PolicyRequest {
  /** Path of the manifest. */
  readonly policy: string;
  readonly source: HistorySource;
  /** What the history is of. */
  readonly resource: ResourceName;
  readonly output: OutputFormat;
}

/** What commander hands over after parsing. */
interface PolicyFlags {
  readonly policy?: string;
  readonly history?: string;
  readonly resource?: ResourceName;
  readonly trace?: string;
  readonly format?: TraceFormat;
  readonly series?: ReadonlyMap<string, string>;
  readonly output?: OutputFormat;
  readonly json?: true;
  readonly html?: true;
}

/** Flags of the other replay, which plays latencies. */
const FOREIGN: readonly (readonly [name: string, flag: string])[] = [
  ["trace", "--trace"],
  ["request", "--request"],
  ["limit", "--limit"],
  ["scaleP95", "--scale-p95"],
  ["sloMs", "--slo-ms"],
  ["html", "--html"],
];

/** Whether a policy is to be replayed. */
export function asksForPolicy(flags: Readonly<Record<string, unknown>>): boolean {
  return ["policy", "history", "resource"].some((name) => flags[name] !== undefined);
}

/** The request of these flags, or the sentence that says what is missing or excludes what. */
export function policyRequest(given: Readonly<Record<string, unknown>>): PolicyRequest | string {
  const flags = given as PolicyFlags;
  const { policy, history, resource = "cpu", format, series, output, json } = flags;
  if (policy === undefined) return "Cannot simulate: --history and --resource go with --policy";
  if (history === undefined) return "Cannot simulate: --policy needs a --history to replay";
  const foreign = FOREIGN.find(([name]) => given[name] !== undefined);
  if (foreign !== undefined) return `Cannot simulate: ${foreign[1]} does not go with --policy`;
  if (series !== undefined && format !== undefined && format !== "prometheus") {
    return `Cannot simulate: --series chooses in a Prometheus export, and --format is ${format}`;
  }
  if (json && output !== undefined && output !== "json") {
    return "Cannot simulate: of --json and --output only one can be had";
  }
  return {
    policy,
    source: {
      path: history,
      ...(format === undefined ? {} : { format }),
      ...(series === undefined ? {} : { series }),
    },
    resource,
    output: json ? "json" : output ?? "table",
  };
}
