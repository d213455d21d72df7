/**
 * The messages of events about a pod.
 *
 * @module
 */
import { listOf, objectOf } from "../../../adapters/kube/client/json_fields.ts";
import { parseTime } from "../../../adapters/kube/kinds/object_fields.ts";
import type { PodName, RealNode } from "./real_node.ts";
import { until, type UntilOptions } from "./until.ts";

/** An event, as far as tests look at it. */
export interface SeenEvent {
  readonly reason: string;
  readonly message: string;
  /** What it is about, for instance a `Pod`. */
  readonly kind: string;
  readonly name: string;
  /** The reporting component, for instance `mbcas-controller`. */
  readonly by: string;
  /** ms since 1970; 0 where it is not reported. */
  readonly atMs: number;
}

/** Events of the namespace about objects of this name, or about all. */
export async function eventsOf(
  { connection }: Pick<RealNode, "connection">,
  { namespace, name }: Pick<PodName, "namespace"> & Partial<PodName>,
): Promise<readonly SeenEvent[]> {
  const path = `/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
  const { items } = objectOf(await connection.request({ path }));
  return listOf(items).map(objectOf)
    .filter(({ regarding }) => name === undefined || objectOf(regarding).name === name)
    .map((
      { reason, note, regarding, reportingController, eventTime, deprecatedLastTimestamp },
    ) => ({
      reason: String(reason),
      message: String(note),
      kind: String(objectOf(regarding).kind),
      name: String(objectOf(regarding).name),
      by: String(reportingController),
      atMs: parseTime(eventTime) ?? parseTime(deprecatedLastTimestamp) ?? 0,
    }));
}

/** Messages of the events of this reason. */
export async function eventTexts(
  node: Pick<RealNode, "connection">,
  { reason, ...name }: Parameters<typeof eventsOf>[1] & { readonly reason: string },
): Promise<readonly string[]> {
  const events = await eventsOf(node, name);
  return events.filter((event) => event.reason === reason).map(({ message }) => message);
}

/** Waits for an event of this reason; returns its message. */
export async function whenReported(
  node: Pick<RealNode, "connection">,
  { reason, ...name }: PodName & { readonly reason: string },
  options?: UntilOptions,
): Promise<string> {
  const what = `event ${reason} of ${name.name}`;
  return await until(
    what,
    async () => (await eventTexts(node, { ...name, reason })).at(0),
    options,
  );
}
