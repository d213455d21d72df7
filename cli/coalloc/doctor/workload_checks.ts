/**
 * Checks of managed pods: restarts, and autoscalers of the same resources.
 *
 * @module
 */
import type { Pod } from "../../../shared/api/pod.ts";
import type { OutOfScope } from "../../../shared/resize/inputs/resize_input.ts";
import { isLive, outOfScope } from "../../../shared/resize/scope.ts";
import { dividedByRequest } from "../../../shared/resize/checks/autoscalers.ts";
import { belongsTo } from "../../../shared/resize/workloads_of.ts";
import { marketSettings } from "../market_settings.ts";
import { type Check, check, type Finding } from "./check.ts";
import type { SnapshotParts } from "../kube/snapshot.ts";

/** The parts that the rules of the market's scope read. */
const SCOPE_PARTS = [
  "pods",
  "nodes",
  "namespaces",
  "settings",
  "verticalAutoscalers",
  "autoscalers",
] as const;
type ScopeParts = Pick<SnapshotParts, typeof SCOPE_PARTS[number]>;

/** Live pods, and why each is out of the market by the controller's rules. */
function scopeOfPods(
  { pods, nodes, namespaces, settings, verticalAutoscalers, autoscalers }: ScopeParts,
): readonly { readonly pod: Pod; readonly verdict: OutOfScope | undefined }[] {
  const config = marketSettings(settings);
  const nodeByName = new Map(nodes.map((one) => [one.metadata.name, one]));
  const namespaceByName = new Map(namespaces.map((one) => [one.metadata.name, one]));
  return pods.filter(isLive).map((pod) => {
    const { namespace } = pod.metadata;
    const scalesPod = (
      { target, metadata }: ScopeParts["autoscalers" | "verticalAutoscalers"][number],
    ) => metadata.namespace === namespace && belongsTo(pod, target);
    const verdict = outOfScope({
      pod,
      node: nodeByName.get(pod.nodeName),
      namespace: namespaceByName.get(namespace),
      verticalAutoscalers: verticalAutoscalers.filter(scalesPod),
      autoscalers: autoscalers.filter(scalesPod),
      config,
    });
    return { pod, verdict };
  });
}

const MANAGED_PARTS = ["pods", "allocations", "reports"] as const;

/** Pods that the market or rightsizing changes. */
function managed(
  { pods, allocations, reports }: Pick<SnapshotParts, typeof MANAGED_PARTS[number]>,
): { readonly market: readonly Pod[]; readonly rightsized: readonly Pod[] } {
  const allocated = new Set(allocations.map(({ spec }) => spec.podUID));
  const workloads = reports.flatMap(({ metadata: { namespace }, workloads }) =>
    workloads.map(({ kind, name }) => ({ namespace, kind, name }))
  );
  return {
    market: pods.filter(({ metadata }) => allocated.has(metadata.uid)),
    rightsized: pods.filter((pod) =>
      workloads.some((one) => one.namespace === pod.metadata.namespace && belongsTo(pod, one))
    ),
  };
}

function podTitle({ metadata: { namespace, name } }: Pod): string {
  return `Pod ${namespace}/${name}`;
}

function namesOf(containers: Pod["containers"]): string {
  return containers.map(({ name }) => name).join(", ");
}

/** Checks of workloads. */
export const WORKLOAD_CHECKS: readonly Check[] = [
  check({
    name: "resizePolicy",
    needs: MANAGED_PARTS,
    find: (parts) => {
      const { market, rightsized } = managed(parts);
      const onCPU = [...new Set([...market, ...rightsized])].flatMap((pod): Finding[] => {
        const restarting = pod.containers.filter(({ restartsOnCPU }) => restartsOnCPU);
        return restarting.length === 0 ? [] : [{
          code: "RestartsOnCPU",
          severity: "warning",
          object: podTitle(pod),
          seen: `resizePolicy of ${
            namesOf(restarting)
          }: cpu RestartContainer; its limit stays as it is`,
          remedy: "set restartPolicy: NotRequired for cpu in the template, or opt the pod out",
        }];
      });
      const onMemory = rightsized.flatMap((pod): Finding[] => {
        const restarting = pod.containers.filter(({ restartsOnMemory }) => restartsOnMemory);
        return restarting.length === 0 ? [] : [{
          code: "RestartsOnMemory",
          severity: "warning",
          object: podTitle(pod),
          seen:
            `resizePolicy of ${namesOf(restarting)}: memory RestartContainer; rightsizing leaves ` +
            "its memory alone while it runs",
          remedy:
            "set restartPolicy: NotRequired for memory in the template, or let a rollout apply it",
        }];
      });
      return [...onCPU, ...onMemory];
    },
  }),
  check({
    name: "VerticalPodAutoscalers and HorizontalPodAutoscalers that exclude pods",
    needs: SCOPE_PARTS,
    find: (parts) => {
      const found = new Map<string, Finding>();
      for (const { pod, verdict } of scopeOfPods(parts)) {
        if (verdict === undefined) continue;
        const { reason, message } = verdict;
        if (reason !== "VPAConflict" && reason !== "HPAConflict") continue;
        const remedy = reason === "VPAConflict"
          ? "set its updateMode to Off, or leave these pods to it and opt them out"
          : "scale on a value instead of a utilization, or take mbcas.io/skip-guaranteed off the pods";
        // One finding for all pods of the same autoscaler.
        const object = `Namespace ${pod.metadata.namespace}`;
        found.set(`${object} ${message}`, {
          code: reason,
          severity: "warning",
          object,
          seen: message,
          remedy,
        });
      }
      return [...found.values()];
    },
  }),
  check({
    name: "HorizontalPodAutoscalers beside managed pods",
    needs: [...MANAGED_PARTS, "autoscalers"],
    find: (parts) => {
      const { market, rightsized } = managed(parts);
      return parts.autoscalers.flatMap((autoscaler): Finding[] => {
        const { metadata: { namespace, name }, target } = autoscaler;
        const scales = (pod: Pod): boolean =>
          pod.metadata.namespace === namespace && belongsTo(pod, target);
        const divides = (["cpu", "memory"] as const).filter((one) =>
          dividedByRequest(autoscaler, one).length > 0
        );
        const beside = [
          ...(autoscaler.cpuTargets.length > 0 && market.some(scales) ? ["the market"] : []),
          ...(divides.length > 0 && rightsized.some(scales) ? ["rightsizing"] : []),
        ];
        return beside.length === 0 ? [] : [{
          code: "HPAOverlap",
          severity: "info",
          object: `HorizontalPodAutoscaler ${namespace}/${name}`,
          seen: `it scales ${target.kind} ${target.name}, which ${beside.join(" and ")} manages`,
          remedy: "nothing: both heed it; docs/integrations.md says how",
        }];
      });
    },
  }),
];
