/**
 * The templates of the Helm chart, from what kustomize makes of the base and of the base with components.
 *
 * @module
 */
import { DEFAULT_NAMESPACE } from "../../../shared/installation.ts";
import { isMembers, membersOf } from "../../../shared/members.ts";
import type { ManifestObject } from "../../../tests/cluster/rendered_manifests.ts";
import { RUNBOOKS } from "../release_names.ts";
import {
  inlined,
  inlinedItems,
  type Members,
  merged,
  templateText,
  valueOf,
  type Version,
} from "./marked_object.ts";
import { withPodValues } from "./pod_values.ts";

/** The chart's expressions for these texts of the manifests, wherever they occur. */
const TEXTS: Readonly<Record<string, string>> = {
  [DEFAULT_NAMESPACE]: ".Release.Namespace",
  [RUNBOOKS]: ".Values.alerts.runbooks",
};

/** The output of kustomize for the base with this component and all those before it in the list. */
export interface Step {
  /** Name of the component's folder; empty for the base alone. */
  readonly component: string;
  readonly objects: readonly ManifestObject[];
}

/** The member of `components` in the chart's values: `dryRun` for `dry-run`. */
export function valueName(component: string): string {
  return component.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}

/** The text of each template by its name, for instance `webhook.yaml`. */
export function chartTemplates(steps: readonly Step[]): Readonly<Record<string, string>> {
  const texts = new Map<string, string>();
  for (const { from, kind, versions, removedBy } of histories(steps)) {
    const conditions = [
      ...(removedBy === undefined ? [] : [`not ${conditionOf(removedBy)}`]),
      ...(kind === "NetworkPolicy" ? [".Values.networkPolicy.enabled"] : []),
    ];
    const text = conditions.reduce(
      (inner, condition) => under(condition, inner),
      `---\n${templateText(merged(versions), TEXTS)}`,
    );
    texts.set(from, (texts.get(from) ?? "") + text);
  }
  return Object.fromEntries(
    [...texts].map(([component, text]) =>
      component === ""
        ? ["base.yaml", text]
        : [`${component}.yaml`, under(conditionOf(component), text)]
    ),
  );
}

function under(condition: string, text: string): string {
  return `{{- if ${condition} }}\n${text}{{- end }}\n`;
}

function conditionOf(component: string): string {
  return component === "" ? "" : `.Values.components.${valueName(component)}`;
}

/** An object through the steps. */
interface History {
  /** The component that brings it; empty for the base. */
  readonly from: string;
  readonly kind: string;
  readonly versions: Version[];
  /** The component with which it is not there any more. */
  removedBy?: string;
}

function histories(steps: readonly Step[]): readonly History[] {
  const found = new Map<string, History>();
  for (const { component, objects } of steps) {
    const now = new Map(
      objects.map((object) => [`${object.kind} ${object.metadata.name}`, object]),
    );
    // Helm creates the namespace, or it is there before.
    now.delete(`Namespace ${DEFAULT_NAMESPACE}`);
    for (const [id, object] of now) {
      const history = found.get(id) ?? { from: component, kind: object.kind, versions: [] };
      history.versions.push({ condition: conditionOf(component), value: withValues(object) });
      found.set(id, history);
    }
    for (const [id, history] of found) if (!now.has(id)) history.removedBy ??= component;
  }
  return [...found.values()];
}

/** Those of the chart's values, or the base's file of comments, which the chart has beside its templates. */
const SETTINGS =
  "empty .Values.config | ternary (.Files.Get `config.yaml`) (toYaml .Values.config) | quote";

/** The object with the chart's values in place of the manifests' own. */
function withValues(object: ManifestObject): Members {
  const { metadata } = object;
  const labels = { ...metadata.labels, ...inlined(".Values.commonLabels") };
  return { ...withSpecValues(object), metadata: { ...metadata, labels } };
}

function withSpecValues(object: ManifestObject): Members {
  switch (object.kind) {
    case "DaemonSet":
      return withPodValues(object, "agent");
    case "Deployment":
      return withPodValues(object, "controller");
    case "NetworkPolicy":
      return withEgress(object);
    case "ConfigMap":
      return object.metadata.name === "mbcas-config"
        ? { ...object, data: { "config.yaml": valueOf(SETTINGS) } }
        : object;
    default:
      return object;
  }
}

/** The values of metricQueries in the rule of the component, and rules of the user's own. */
function withEgress(object: Members): Members {
  const scalars = {
    monitoring: valueOf(".Values.metricQueries.namespace | quote"),
    9090: valueOf(".Values.metricQueries.port"),
  };
  const { egress, ...spec } = membersOf(object["spec"]);
  const rules = [egress].flat().map((rule) =>
    JSON.stringify(rule).includes('"kubernetes.io/metadata.name":"monitoring"')
      ? replaced(rule, scalars)
      : rule
  );
  // In front: components add rules at the end.
  const own = inlinedItems(".Values.networkPolicy.extraEgress");
  return { ...object, spec: { ...spec, egress: [own, ...rules] } };
}

function replaced(value: unknown, scalars: Members): unknown {
  if (Array.isArray(value)) return value.map((item) => replaced(item, scalars));
  if (isMembers(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [key, replaced(member, scalars)]),
    );
  }
  return scalars[String(value)] ?? value;
}
