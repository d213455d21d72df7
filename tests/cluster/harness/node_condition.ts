/**
 * Whether the node takes pods, from the Node object.
 *
 * @module
 */

/** `undefined` when the node is ready, otherwise the reason as a message. */
export function notReady(node: unknown): string | undefined {
  const conditions = list(member(member(node, "status"), "conditions"));
  const ready = conditions.find((each) => member(each, "type") === "Ready");
  if (ready === undefined) return "the node has no condition Ready yet";
  if (member(ready, "status") !== "True") return String(member(ready, "message") ?? "not ready");
  const taints = list(member(member(node, "spec"), "taints"));
  const taint = taints.find((each) => member(each, "effect") !== "PreferNoSchedule");
  return taint === undefined ? undefined : `the node has the taint ${String(member(taint, "key"))}`;
}

/** CPU that pods may have, as the API writes it, or undefined. */
export function allocatableCPU(node: unknown): string | undefined {
  const cpu = member(member(member(node, "status"), "allocatable"), "cpu");
  return typeof cpu === "string" ? cpu : undefined;
}

function member(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return Object.entries(value).find(([key]) => key === name)?.[1];
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
