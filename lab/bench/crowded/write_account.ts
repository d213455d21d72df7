/**
 * The resizes of a run and their answers, by the API server's audit log and the controllers' counters.
 *
 * @module
 */
import type { Kubectl } from "../../../tests/cluster/kubectl.ts";
import { PRODUCT_NAMESPACE } from "../../../tests/cluster/scene/product.ts";
import { markAudit, readAuditSince, type ResizeAnswer } from "../audit_log.ts";

/** A count by name. */
export interface Tally {
  readonly what: string;
  readonly count: number;
}

/**
 * The account of a time span. The sources are read one after another while the market goes on, so the
 * counts may differ by the answers meanwhile.
 */
export interface WriteAccount {
  /** All resizes that were answered, from the audit log. */
  readonly answers: readonly ResizeAnswer[];
  /** By outcome and reason, from the controllers' counters. */
  readonly outcomes: readonly Tally[];
}

/** The sources of an account. */
export interface WriteSources {
  readonly kubectl: Kubectl;
  /** The API server's audit log. */
  readonly auditFile: string;
}

/** Begins an account; the function ends it. */
export async function openWriteAccount(
  { kubectl, auditFile }: WriteSources,
): Promise<() => Promise<WriteAccount>> {
  const mark = await markAudit(auditFile);
  const before = await controllersResizes(kubectl);
  return async () => {
    const outcomes = new Map<string, number>();
    for (const [key, { what, count }] of await controllersResizes(kubectl)) {
      const grown = count - (before.get(key)?.count ?? 0);
      if (grown > 0) outcomes.set(what, (outcomes.get(what) ?? 0) + grown);
    }
    return {
      answers: await readAuditSince(mark),
      outcomes: [...outcomes].map(([what, count]) => ({ what, count })),
    };
  };
}

const PORT = 8080;
const LINE = /^mbcas_resizes_total\{(.*)\} (\S+)$/;

/** The controllers' counters of resizes, by pod and labels. */
async function controllersResizes(kubectl: Kubectl): Promise<ReadonlyMap<string, Tally>> {
  const pods = await kubectl.must([
    ...["get", "pods", "-n", PRODUCT_NAMESPACE, "-l", "app.kubernetes.io/name=mbcas-controller"],
    ...["--field-selector=status.phase=Running", "-o", "jsonpath={.items[*].metadata.name}"],
  ]);
  const counters = new Map<string, Tally>();
  for (const pod of pods.split(" ").filter((name) => name !== "")) {
    const path = `/api/v1/namespaces/${PRODUCT_NAMESPACE}/pods/${pod}:${PORT}/proxy/metrics`;
    for (const line of (await kubectl.must(["get", "--raw", path])).split("\n")) {
      const [, labels = "", value] = LINE.exec(line) ?? [];
      if (value === undefined) continue;
      const label = (name: string) => new RegExp(`${name}="([^"]*)"`).exec(labels)?.[1] ?? "";
      const what = `${label("outcome")} ${label("reason")}`.trim();
      counters.set(`${pod} ${labels}`, { what, count: Number(value) });
    }
  }
  return counters;
}
