/**
 * The API server's own record of resizes: each request with its user and the answer.
 *
 * @module
 */
import { listOf, numberOf, objectOf, textOf } from "../../adapters/kube/client/json_fields.ts";

/** A resize request that was answered. */
export interface ResizeAnswer {
  /** When it came, ISO 8601. */
  readonly at: string;
  /** The pod of the token that was used; empty for another user. */
  readonly writer: string;
  readonly namespace: string;
  readonly pod: string;
  readonly code: number;
}

/** A place in the log. */
export interface AuditMark {
  readonly file: string;
  readonly offset: number;
}

/** The present end of the log. Throws an `Error` when the server keeps none. */
export async function markAudit(file: string): Promise<AuditMark> {
  try {
    return { file, offset: (await Deno.stat(file)).size };
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    throw new Error(
      `Cannot find the audit log ${file}: the cluster is older than the harness; bring it down and up`,
      { cause: error },
    );
  }
}

/** The answers since the mark. */
export async function readAuditSince({ file, offset }: AuditMark): Promise<ResizeAnswer[]> {
  const bytes = await Deno.readFile(file);
  return parseAudit(new TextDecoder().decode(bytes.subarray(offset)));
}

/** The answers in a text of JSON lines; a last line that is not whole yet is left out. */
export function parseAudit(text: string): ResizeAnswer[] {
  return text.split("\n").slice(0, -1).map((line): ResizeAnswer => {
    const event = objectOf(JSON.parse(line));
    const [subject, status] = [objectOf(event["objectRef"]), objectOf(event["responseStatus"])];
    const { extra } = objectOf(event["user"]);
    const [writer] = listOf(objectOf(extra)["authentication.kubernetes.io/pod-name"]);
    return {
      at: textOf(event["requestReceivedTimestamp"]) ?? "",
      writer: textOf(writer) ?? "",
      namespace: textOf(subject["namespace"]) ?? "",
      pod: textOf(subject["name"]) ?? "",
      code: numberOf(status["code"]) ?? 0,
    };
  });
}
