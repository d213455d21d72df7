/**
 * The manifests as kustomize renders them; needs kubectl, but no cluster.
 *
 * @module
 */
import { hasKubectl, render, type Rendered, renderWith } from "../manifests/rendered.ts";
import type { Computed } from "./golden.ts";

/** Sets of components that are rendered on top of the base: each component is in one of them. */
const COMPONENTS: readonly (readonly string[])[] = [
  ["rightsizing", "placement", "webhook", "prometheus", "alerts", "users"],
  ["dry-run", "metric-queries", "webhook", "webhook-cert-manager"],
  ["grafana"],
];

const OVERLAYS = ["overlays/kind", "overlays/release"] as const;
const EXAMPLES = ["examples", "examples/optipod", "examples/spotalis"] as const;

/**
 * A row for each object of the base and of the examples, and for each object that an overlay or a
 * component adds or changes. Members are sorted, because kubectl's versions differ in their order.
 * CustomResourceDefinitions are left out: `check:crds` compares them.
 */
export async function renderedManifests(): Promise<Computed> {
  if (!hasKubectl) {
    return { notes: [], problems: [], leftOut: "kubectl is not installed" };
  }
  const base = rowsOf("base", await render("base"));
  const own = new Set(base.map(({ object }) => object));
  const changed: Row[] = [];
  for (const overlay of OVERLAYS) changed.push(...rowsOf(overlay, await render(overlay)));
  for (const names of COMPONENTS) {
    changed.push(...rowsOf(`base + ${names.join(" + ")}`, await renderWith(names)));
  }
  const rows = [...base, ...changed.filter(({ object }) => !own.has(object))];
  for (const folder of EXAMPLES) rows.push(...rowsOf(folder, await render(folder)));
  const lines = rows.map(({ from, id, object }) =>
    `{"in":${JSON.stringify(`${from}: ${id}`)},"object":${object}}\n`
  );
  return { text: lines.join(""), notes: [`${rows.length} objects`], problems: [] };
}

interface Row {
  /** The folder that was rendered. */
  readonly from: string;
  /** Kind, namespace and name. */
  readonly id: string;
  /** JSON. */
  readonly object: string;
}

function rowsOf(from: string, objects: readonly Rendered[]): readonly Row[] {
  return objects.filter(({ kind }) => kind !== "CustomResourceDefinition").map((object) => {
    const { kind, metadata } = object;
    const { namespace } = metadata as { readonly namespace?: string };
    const name = namespace === undefined ? metadata.name : `${namespace}/${metadata.name}`;
    return { from, id: `${kind} ${name}`, object: JSON.stringify(sorted(object)) };
  }).sort((one, other) => one.id < other.id ? -1 : one.id > other.id ? 1 : 0);
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).sort(([one], [other]) => one < other ? -1 : 1);
  return Object.fromEntries(members.map(([name, member]) => [name, sorted(member)]));
}
