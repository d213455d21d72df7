/**
 * Whose pods a change of an autoscaler concerns.
 *
 * @module
 */
import type { WorkloadRef } from "../../../shared/api/workload.ts";
import type { Informer } from "../../../shared/control/informer.ts";
import type { ApiObject } from "../../../shared/api/object.ts";
import { objectKey } from "../../../shared/control/object_key.ts";

/** An object that is about a workload of its namespace. */
export interface Targeting extends ApiObject {
  readonly target: WorkloadRef;
}

/**
 * The function tells the workloads that a change under this key concerns: the present target and the
 * one before, which can't be read any more. None when nothing has changed of what is kept of the
 * object: autoscalers write their status several times a minute.
 */
export function createTargetMemory<T extends Targeting>(
  copy: Pick<Informer<T>, "all" | "get">,
): (key: string) => readonly WorkloadRef[] {
  const known = new Map<string, { readonly target: WorkloadRef; readonly text: string }>();
  const remember = (object: T): { readonly target: WorkloadRef; readonly text: string } => {
    const { metadata: { resourceVersion: _version, ...metadata }, ...rest } = object;
    return { target: object.target, text: JSON.stringify({ ...rest, metadata }) };
  };
  for (const object of copy.all()) known.set(objectKey(object.metadata), remember(object));
  return (key) => {
    const object = copy.get(key);
    const before = known.get(key);
    if (object === undefined) {
      known.delete(key);
      return before === undefined ? [] : [before.target];
    }
    const now = remember(object);
    if (now.text === before?.text) return [];
    known.set(key, now);
    if (before === undefined) return [now.target];
    const moved = before.target.kind !== now.target.kind || before.target.name !== now.target.name;
    return moved ? [before.target, now.target] : [now.target];
  };
}
