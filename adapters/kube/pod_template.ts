/**
 * What a workload makes its pods of.
 *
 * @module
 */
import type { MadePods, PodTemplate, WorkloadKind } from "../../shared/api/workload.ts";
import {
  type JSONObject,
  jsonText,
  listMemberOf,
  memberOf,
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
  return { paused, replicas, template: parseTemplate(memberOf(spec, "template")) };
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
