/**
 * Takes pods out of the market, so that nothing applies its limits again.
 *
 * @module
 */
import { unlessNotFound } from "../../../adapters/kube/client/connection.ts";
import type { Namespace } from "../../../shared/api/namespace.ts";
import type { Pod } from "../../../shared/api/pod.ts";
import { MANAGED } from "../../../shared/api/market_keys.ts";
import { SYSTEM_NAMESPACE } from "../kube/system_namespace.ts";
import { withMarketOff } from "../market_settings.ts";
import type { ClusterReader, MarketSwitches, PodName } from "../ports.ts";

/** The pods to restore. */
export type RestoreTarget =
  | { readonly kind: "pod"; readonly pod: PodName }
  /** Pods with these labels; of all namespaces when none is named. */
  | { readonly kind: "labels"; readonly selector: string; readonly namespace?: string }
  | { readonly kind: "namespace"; readonly namespace: string }
  | { readonly kind: "all" };

/** True when the object opts out by label or annotation. */
export function optsOut({ metadata }: Pick<Pod | Namespace, "metadata">): boolean {
  return metadata.labels[MANAGED] === "false" || metadata.annotations[MANAGED] === "false";
}

/** Pods that opt in themselves, which takes precedence over their namespace. */
function optedInPods(pods: readonly Pod[]): readonly Pod[] {
  return pods.filter((pod) => {
    const { labels, annotations } = pod.metadata;
    const value = labels[MANAGED] ?? annotations[MANAGED];
    return value !== undefined && !optsOut(pod);
  });
}

/** Several pods as text. */
export function targetText(target: Exclude<RestoreTarget, { readonly kind: "pod" }>): string {
  if (target.kind === "all") return "the whole cluster";
  if (target.kind === "namespace") return `namespace ${target.namespace}`;
  const where = target.namespace === undefined ? "all namespaces" : `namespace ${target.namespace}`;
  return `pods with ${target.selector} of ${where}`;
}

/** The step that switches the target off, as text. */
export function switchText(target: RestoreTarget): string {
  if (target.kind === "pod") {
    return `annotate pod ${target.pod.namespace}/${target.pod.name} with ${MANAGED}=false`;
  }
  if (target.kind === "labels") return `annotate ${targetText(target)} with ${MANAGED}=false`;
  return target.kind === "namespace"
    ? `annotate namespace ${target.namespace} with ${MANAGED}=false`
    : "set market.enabled: false in the installation's settings";
}

/** New pods of a workload follow its template, not annotations of running pods. */
const ENDS_WITH_POD = `This opt-out ends with the pod. To leave out the pods to come, too, say ` +
  `${MANAGED}: "false" in their template, spec.template.metadata of the workload; its own metadata ` +
  "does not count";

/**
 * Switches the target off, unless it is off. Resolves with notes, in sentences: objects that could not be
 * found, and an opt-out that ends with its pod. Throws an `ApiError` when the server refuses: then nothing
 * may be restored.
 */
export async function switchOff(
  target: RestoreTarget,
  { reader, switches, pods }: {
    readonly reader: Pick<ClusterReader, "namespace" | "settingsText">;
    readonly switches: MarketSwitches;
    readonly pods: readonly Pod[];
  },
): Promise<readonly string[]> {
  if (target.kind === "pod" || target.kind === "labels") {
    if (pods.every(optsOut)) return [];
    for (const { metadata } of pods.filter((pod) => !optsOut(pod))) {
      await switches.optOutPod(metadata);
    }
    return pods.some(({ metadata }) => metadata.owner !== undefined) ? [ENDS_WITH_POD] : [];
  }
  if (target.kind === "namespace") {
    const namespace = await reader.namespace(target.namespace);
    if (namespace === undefined || !optsOut(namespace)) {
      await switches.optOutNamespace(target.namespace);
    }
    for (const { metadata } of optedInPods(pods)) await switches.optOutPod(metadata);
    return [];
  }
  const text = await reader.settingsText() ?? "";
  const written = switches.writeSettings(withMarketOff(text)).then(() => true);
  return await unlessNotFound(written) ? [] : [
    `The market stays on: there is no namespace ${SYSTEM_NAMESPACE}; where the product is in ` +
    "another one, set COALLOC_SYSTEM_NAMESPACE to it, and restore again",
  ];
}
