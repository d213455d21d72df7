/**
 * What was asked of the API server by way of resizes, and what it said: by its own counters and audit
 * log, by the controllers' counters, and by the events on pods.
 *
 * @module
 */
import type { KubeConnection } from "../../../adapters/kube/client/connection.ts";
import { listOf, numberOf, objectOf, textOf } from "../../../adapters/kube/client/json_fields.ts";
import type { Kubectl } from "../../../tests/cluster/kubectl.ts";
import { markAudit, readAuditSince, type ResizeAnswer } from "../audit_log.ts";
import {
  type ControllerCounters,
  counterGrowth,
  type CounterLine,
  parseCounters,
  scrapeControllers,
} from "./counters.ts";

/** A count of what is alike. */
export interface Tally {
  readonly what: string;
  readonly count: number;
}

/**
 * The account of some time. The sources are read one after another while the market goes on, so the
 * counts may differ by what is answered meanwhile.
 */
export interface WriteAccount {
  /** All resizes that were answered, from the audit log. */
  readonly answers: readonly ResizeAnswer[];
  /** By status code, from the API server's counters. */
  readonly byCode: readonly Tally[];
  /** All writes that have to do with limits, by resource, from the API server's counters. */
  readonly mutations: readonly Tally[];
  /** By outcome and reason, and blocked changes by reason, from the controllers' counters. */
  readonly outcomes: readonly Tally[];
  readonly held: readonly Tally[];
  /** Controllers that were there before and are gone: their counts are lost. */
  readonly lostControllers: number;
}

/** Where to look. */
export interface WriteSources {
  readonly kubectl: Kubectl;
  /** The API server's audit log. */
  readonly auditFile: string;
}

const REQUESTS = "apiserver_request_total";

/** Begins an account; the function ends it. */
export async function openWriteAccount(
  { kubectl, auditFile }: WriteSources,
): Promise<() => Promise<WriteAccount>> {
  const mark = await markAudit(auditFile);
  const [server, controllers] = [await serverCounters(kubectl), await scrapeControllers(kubectl)];
  return async () => {
    const now = await scrapeControllers(kubectl);
    const grown = now.flatMap(({ pod, counters }) =>
      counterGrowth(controllers.find((each) => each.pod === pod)?.counters ?? [], counters)
    );
    const named = (name: string): CounterLine[] => grown.filter((line) => line.name === name);
    const codes = counterGrowth(server, await serverCounters(kubectl));
    const resizes = codes.filter(({ labels }) => resourceOf(labels) === "pods/resize");
    return {
      answers: await readAuditSince(mark),
      byCode: tallies(resizes, ({ code = "" }) => code),
      mutations: tallies(codes, resourceOf),
      outcomes: tallies(
        named("mbcas_resizes_total"),
        ({ outcome, reason }) => `${outcome} ${reason}`.trim(),
      ),
      held: tallies(named("mbcas_held_total"), ({ reason = "" }) => reason),
      lostControllers: lost(controllers, now),
    };
  };
}

/** Objects that a change of limits writes: the kubelet and events of starting pods, too. */
const WRITTEN = ["pods/resize", "pods/status", "podallocations", "podallocations/status", "events"];
const WRITES = ["POST", "PUT", "PATCH", "APPLY"];

async function serverCounters(kubectl: Kubectl): Promise<CounterLine[]> {
  const text = await kubectl.must(["get", "--raw", "/metrics"]);
  return parseCounters(text, [REQUESTS]).filter(({ labels }) =>
    WRITES.includes(labels["verb"] ?? "") && WRITTEN.includes(resourceOf(labels))
  );
}

function resourceOf({ resource = "", subresource = "" }: CounterLine["labels"]): string {
  return subresource === "" ? resource : `${resource}/${subresource}`;
}

function lost(before: readonly ControllerCounters[], after: readonly ControllerCounters[]): number {
  return before.filter(({ pod }) => !after.some((each) => each.pod === pod)).length;
}

function tallies(
  lines: readonly CounterLine[],
  keyOf: (labels: CounterLine["labels"]) => string,
): Tally[] {
  return tally(lines.map(({ labels, value }) => ({ what: keyOf(labels), count: value })));
}

/** Sums up what is alike, most of it first. */
export function tally(entries: readonly Tally[]): Tally[] {
  const sums = new Map<string, number>();
  for (const { what, count } of entries) sums.set(what, (sums.get(what) ?? 0) + count);
  return [...sums].map(([what, count]) => ({ what, count })).sort((a, b) => b.count - a.count);
}

/** What events of a reason say in these namespaces, with how often it was said. */
export async function eventMessages(
  connection: KubeConnection,
  { namespaces, reason }: {
    readonly namespaces: readonly string[];
    readonly reason: string;
  },
): Promise<Tally[]> {
  const found: Tally[] = [];
  for (const namespace of namespaces) {
    const path = `/api/v1/namespaces/${namespace}/events`;
    const query = { fieldSelector: `reason=${reason}` };
    const { items } = objectOf(await connection.request({ path, query }));
    for (const { message, count, series } of listOf(items).map(objectOf)) {
      const times = numberOf(objectOf(series).count) ?? numberOf(count) ?? 1;
      found.push({ what: textOf(message) ?? "", count: times });
    }
  }
  return tally(found);
}
