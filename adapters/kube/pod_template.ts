/**
 * What a workload makes its pods of.
 *
 * @module
 */
import { fieldsSetBy } from "../../shared/actuation/methods/owned_fields.ts";
import { TEMPLATE_MANAGER } from "../../shared/actuation/methods/template_patch.ts";
import type {
  MadePods,
  PodTemplate,
  WorkloadKind,
  WrittenValues,
} from "../../shared/api/workload.ts";
import {
  type JSONObject,
  jsonText,
  listMemberOf,
  memberOf,
  objectOf,
  present,
  textOf,
  wholeMemberOf,
  wholeOf,
} from "./json_fields.ts";
import { parseResources } from "./pod_container_fields.ts";
import { parseContainers } from "./pod_containers.ts";

/**
 * The pods of a raw workload. Throws a `TypeError` or `SyntaxError` that names what can't be read: a
 * template without containers is none.
 */
export function parseMadePods(raw: JSONObject, kind: WorkloadKind): MadePods {
  const spec = memberOf(raw, "spec");
  const { paused = false } = spec;
  if (typeof paused !== "boolean") {
    throw new TypeError(`Cannot read an object of the API: paused is ${jsonText(paused)}`);
  }
  const replicas = kind === "DaemonSet"
    ? wholeMemberOf(memberOf(raw, "status"), "desiredNumberScheduled") ?? 0
    : wholeMemberOf(spec, "replicas") ?? 1;
  const template = parseTemplate(memberOf(spec, "template"));
  const { managedFields } = objectOf(raw["metadata"]);
  return { paused, replicas, template, ...present("written", writtenOf(managedFields, template)) };
}

/** Sidecars stand in another list, and none of theirs is ever written. */
function writtenOf(
  managedFields: unknown,
  { containers }: PodTemplate,
): WrittenValues | undefined {
  const set = fieldsSetBy(managedFields, TEMPLATE_MANAGER);
  if (set === undefined) return undefined;
  const own = containers.flatMap((container) => {
    const fields = container.sidecar ? undefined : set.fields.get(container.name);
    if (fields === undefined) return [];
    const values = [...fields].map((field) => [field, container[field]] as const)
      .filter(([, value]) => value !== undefined);
    return [{ name: container.name, ...Object.fromEntries(values) }];
  });
  return { atMs: set.atMs, containers: own };
}

function parseTemplate(raw: JSONObject): PodTemplate {
  const spec = memberOf(raw, "spec");
  listMemberOf(spec, "initContainers");
  if (listMemberOf(spec, "containers").length === 0) {
    throw new TypeError("Cannot read a template: it has no containers");
  }
  const { resources, priorityClassName, activeDeadlineSeconds } = spec;
  const podLevel = parseResources(resources);
  return {
    ...parseContainers({ spec }),
    ...(Object.keys(podLevel).length === 0 ? {} : { podLevel }),
    ...present("priorityClassName", textOf(priorityClassName)),
    ...(wholeOf(activeDeadlineSeconds) === undefined ? {} : { hasDeadline: true }),
  };
}
