/**
 * The audit log: what was changed of pods and workloads, or refused, as one JSON object a line.
 *
 * @module
 */
import * as z from "zod";
import { timeSchema } from "./api/object.ts";
import type { Clock } from "./clock.ts";
import { createRateLimiter } from "./control/rate_limiter.ts";

const quantities = z.object({ cpu: z.string().optional(), memory: z.string().optional() });

/** Requests and limits as the API has them. */
const resources = z.object({ requests: quantities.optional(), limits: quantities.optional() });

/** The object of a change, the change, and the answer. */
export const auditedChangeSchema = z.object({
  source: z.enum(["market", "restore", "rightsizing", "placement"]).describe(
    "`market`, `restore` (of original limits), `rightsizing` or `placement`",
  ),
  action: z.enum(["resize", "template", "evict"]).describe(
    "`resize` of a running pod, `template`: a write of the workload's template, `evict` of a pod",
  ),
  outcome: z.enum(["accepted", "refused", "conflict", "gone", "busy"]).describe(
    "`accepted`, `refused`, `conflict`: the object has changed since, `gone`: it no longer exists, " +
      "`busy`: the server was busy or did not answer",
  ),
  reason: z.string().describe("why the change was requested, one of the [reasons](reasons.md)"),
  refusedFor: z.string().optional().describe("why it was refused, one of the reasons"),
  message: z.string().optional().describe(
    "the server's message; of an accepted eviction, why the pod was evicted",
  ),
  namespace: z.string().describe("namespace of the object"),
  kind: z.string().describe("`Pod`, or the workload's kind"),
  name: z.string().describe("name of the object"),
  uid: z.string().describe("UID of the object"),
  node: z.string().optional().describe("node of the pod"),
  container: z.string().optional().describe("name of the container; absent for an eviction"),
  before: resources.optional().describe(
    "present `requests` and `limits` of what would change; a value that is not set is absent",
  ),
  after: resources.optional().describe("what the request asks for"),
  price: z.number().optional().describe(
    "price per core of the clearing, as `spec.market.price`; absent when infinite",
  ),
  boundsRevision: z.int().optional().describe(
    "revision of the bounds that the clearing used, as `spec.market.observedBounds`",
  ),
});

/** A line of the log. */
export const auditLineSchema = z.object({
  "@timestamp": timeSchema.describe("time of the answer"),
  logger: z.literal("audit").describe("always `audit`"),
  severity: z.literal("INFO").describe(
    "`INFO`, for collectors that take stderr for errors; `WARNING` where `dropped` counts lines",
  ),
  auditID: z.string().describe("the request's ID, the same as in the API server's audit log"),
  ...auditedChangeSchema.shape,
});

/** The object of a change, the change, and the answer. */
export type AuditedChange = z.infer<typeof auditedChangeSchema>;

/** A request that changes an object. */
export interface AuditedRequest {
  /** The request's ID, which the API server's audit log has, too. */
  readonly auditID: string;
  /** Records a change of the request, once the server has answered. */
  record(change: AuditedChange): void;
}

/** Records changes. */
export interface AuditLog {
  /** A request that is about to be sent. */
  begin(): AuditedRequest;
}

/** Parts of the audit log. */
export interface AuditLogOptions {
  /** Writes one line, its end included. */
  readonly write: (line: string) => void;
  readonly clock: Pick<Clock, "wall" | "monotonic">;
  /** Gives a request its ID. */
  readonly newID: () => string;
  /** Called for each line that the rate limit drops. */
  readonly onDrop: () => void;
}

/** Bounds the log's size while the server refuses again and again: four times the rate of resizes. */
const LINES_PER_SECOND = 200;
const BURST = 2000;
/** Most characters of a message: a policy engine may answer at great length. */
const LONGEST_MESSAGE = 1000;

/** Creates the log. A line after a gap says how many were dropped. */
export function createAuditLog({ write, clock, newID, onDrop }: AuditLogOptions): AuditLog {
  const limiter = createRateLimiter({ perSecond: LINES_PER_SECOND, burst: BURST });
  let dropped = 0;
  const line = (severity: "INFO" | "WARNING", fields: object): void => {
    const timestamp = new Date(clock.wall()).toISOString();
    const head = { "@timestamp": timestamp, logger: "audit", severity };
    write(`${JSON.stringify({ ...head, ...fields })}\n`);
  };
  const record = (auditID: string, change: AuditedChange): void => {
    if (limiter.take(clock.monotonic()) > 0) {
      dropped++;
      onDrop();
      return;
    }
    if (dropped > 0) line("WARNING", { dropped });
    dropped = 0;
    line("INFO", { auditID, ...change, message: change.message?.slice(0, LONGEST_MESSAGE) });
  };
  return {
    begin() {
      const auditID = newID();
      return { auditID, record: (change) => record(auditID, change) };
    },
  };
}
