/**
 * Reasons as users see them: by `kubectl coalloc explain` and events.
 *
 * @module
 */
import assert from "node:assert/strict";
import { listOf, objectOf } from "../../../adapters/kube/client/json_fields.ts";
import { isQuiet } from "../../../controller/allocation/events/pod_events.ts";
import { BOUND_REASONS, type BoundReason } from "../../../shared/api/reasons/bound_reasons.ts";
import type {
  EnforcementReason,
  EventReason,
} from "../../../shared/api/reasons/enforcement_reasons.ts";
import { remedyFor, sentenceOf } from "../../../shared/api/reasons/reasons.ts";
import { SETTLED, thePod } from "./limits.ts";
import { coalloc, restoresFor } from "./product.ts";
import type { PodName, RealNode } from "./real_node.ts";
import { until, type UntilOptions } from "./until.ts";
import { parseTime } from "../../../adapters/kube/kinds/object_fields.ts";

/** A reason, by the object that carries it. */
export type Reported =
  | {
    /** Sets or holds the pod's limits. */
    readonly bound: BoundReason;
    /** False where an event of the same kind may have kept this one back. @default {true} */
    readonly event?: boolean;
  }
  /** The API server refuses the pod's new limits for this reason. */
  | { readonly refusal: EnforcementReason }
  | {
    /** Why the pod is not in the market. */
    readonly outside: EnforcementReason;
    /** False where it was never in it, so that nothing was given back. @default {true} */
    readonly restored?: boolean;
  };

/**
 * Fails unless `explain` gives the reason with its sentence and remedy, and an event reports it. The pod
 * must have the reason already.
 */
export async function assertReported(
  node: RealNode,
  name: PodName,
  reported: Reported,
): Promise<void> {
  const test = (): boolean => true;
  if ("bound" in reported) {
    const { bound, event = true } = reported;
    const line = new RegExp(`^ +${bound}: ${literal(sentenceOf(bound))} \\(`, "m");
    await assertExplained(name, bound, line);
    if (event) await assertBoundEvent(node, name, bound);
  } else if ("refusal" in reported) {
    const { refusal } = reported;
    const sentence = `^Controller +(\\w+, )?${refusal}: ${literal(sentenceOf(refusal))}`;
    await assertExplained(name, refusal, new RegExp(sentence, "m"));
    await whenEvent(node, name, { reason: "CPULimitFailed", test });
  } else {
    const { outside, restored = true } = reported;
    await assertExplained(name, outside, new RegExp(`^[^:\\n]+: ${outside}: `, "m"));
    if (restored) await whenEvent(node, name, { reason: "CPULimitsRestored", test });
  }
}

/** Fails unless `explain` is without the reason. */
export async function assertUnreported(
  name: PodName,
  reason: BoundReason | EnforcementReason,
): Promise<void> {
  assert.doesNotMatch(await explain(name), new RegExp(`\\b${reason}\\b`));
}

async function explain({ namespace, name }: PodName): Promise<string> {
  const { code, stdout, stderr } = await coalloc("explain", name, "-n", namespace);
  assert.equal(code, 0, stderr);
  return stdout;
}

async function assertExplained(name: PodName, reason: string, line: RegExp): Promise<void> {
  const text = await explain(name);
  assert.match(text, line);
  const remedy = remedyFor(reason);
  if (remedy !== undefined) {
    assert.ok(text.toLowerCase().includes(`: ${remedy}`.toLowerCase()), text);
  }
}

async function assertBoundEvent(node: RealNode, name: PodName, bound: BoundReason): Promise<void> {
  const reason = "CPULimitBounded";
  const test = ({ message }: SeenEvent): boolean => message.includes(`${bound}: `);
  if (!isQuiet(BOUND_REASONS[bound])) return await whenEvent(node, name, { reason, test });
  const reported = (await eventsOf(node, name)).filter((event) =>
    event.reason === reason && test(event)
  );
  assert.deepEqual(reported, [], "what every pod has in its life is no event");
}

/** Waits for such an event about the pod, a workload of its namespace, or its node. */
async function whenEvent(
  node: RealNode,
  name: PodName,
  { reason, test }: { readonly reason: EventReason; readonly test: (event: SeenEvent) => boolean },
): Promise<void> {
  const { nodeName } = await thePod(node, name);
  await until(`event ${reason} that says so of ${name.name}`, async () => {
    const near = (await eventsOf(node, { namespace: name.namespace }))
      .filter((event) => event.kind !== "Pod" || event.name === name.name);
    const ofNode = await eventsOf(node, { namespace: "default", name: nodeName });
    const reported = [...near, ...ofNode].filter((event) => event.reason === reason);
    if (reported.some(test)) return true;
    throw new Error(`there are: ${reported.map(({ message }) => message).join("; ")}`);
  }, SETTLED);
}

function literal(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/** Waits until so many pods more than `before`, and no others, have got their original limits back. */
export async function assertRestores(
  node: Pick<RealNode, "connection">,
  cause: EnforcementReason,
  { before, count }: {
    /** The count of {@linkcode restoresFor} before. */
    readonly before: number;
    readonly count: number;
  },
): Promise<void> {
  const restored = await until(`${count} restores for ${cause}`, async () => {
    const since = await restoresFor(node, cause) - before;
    if (since >= count) return since;
    throw new Error(`there are ${since}`);
  }, SETTLED);
  assert.equal(restored, count, `restores for ${cause}`);
}

/** An event, as far as tests look at it. */
export interface SeenEvent {
  readonly reason: string;
  readonly message: string;
  /** The kind of its object, for instance `Pod`. */
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
