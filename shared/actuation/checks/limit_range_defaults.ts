/**
 * Would the server write a LimitRange's defaults into the pod?
 *
 * @module
 */
import type { Pod, PodContainer } from "../../api/pod.ts";
import type { EnforcementReason } from "../../api/reasons/enforcement_reasons.ts";
import type { PodFacts, Verdict } from "../check.ts";
import type { CPURanges } from "../cpu_range.ts";

/**
 * Holds where it would, with this reason. The server does so at each resize, whatever is asked for, in
 * all containers and init containers of a pod that is older than the LimitRange; and the API lets
 * nobody remove a request or limit.
 */
export function wouldWriteDefaults(
  reason: EnforcementReason,
): (facts: PodFacts) => Verdict {
  return ({ pod, limitRange }) => {
    if (pod === undefined || limitRange?.defaults === undefined) return undefined;
    const written = writtenInto(pod, limitRange.defaults);
    if (written.length === 0) return undefined;
    return {
      verdict: "hold",
      reason,
      message: `with any resize the API server would write the LimitRange's defaults into ` +
        `${written.join(", ")}, and they could never be removed: recreate the pod, or take the ` +
        "defaults out of the LimitRange (max and min set them, too)",
    };
  };
}

function writtenInto(
  { containers, initContainers }: Pod,
  defaults: NonNullable<CPURanges["defaults"]>,
): readonly string[] {
  const lacks = (kind: string, container: PodContainer): string[] => {
    const missing = defaults.filter((name) => !has(container, name));
    return missing.length === 0 ? [] : [`${kind} ${container.name} (${missing.join(", ")})`];
  };
  return [
    ...containers.flatMap((one) => lacks("container", one)),
    ...initContainers.flatMap((one) => lacks("init container", one)),
  ];
}

function has(container: PodContainer, name: string): boolean {
  switch (name) {
    case "limits.cpu":
      return container.limitCPU !== undefined;
    case "requests.cpu":
      return container.requestCPU !== undefined;
    case "limits.memory":
      return container.limitMemory !== undefined;
    case "requests.memory":
      return container.requestMemory !== undefined;
    default:
      return container.otherResources?.includes(name) ?? false;
  }
}
