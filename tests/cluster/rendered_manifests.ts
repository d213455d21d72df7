/**
 * The manifests as `kubectl kustomize` renders them.
 *
 * @module
 */
import { relative } from "node:path";
import { parseAllDocuments } from "yaml";
import * as z from "zod";
import { run } from "./harness/shell.ts";
import type { Kubectl } from "./kubectl.ts";
import { until } from "./scene/until.ts";

export interface ManifestObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly [field: string]: unknown;
}

const MANIFESTS = new URL("../../manifests", import.meta.url).pathname;

/** The objects of a folder below `manifests/`, for instance `overlays/kind`. */
export function renderManifests(folder: string): Promise<ManifestObject[]> {
  return renderFolder(`${MANIFESTS}/${folder}`);
}

/** The objects of any folder; kubectl needs no cluster for it. */
export async function renderFolder(path: string): Promise<ManifestObject[]> {
  // By a shell: it is all that the tests' permissions let run.
  return parseObjects(await run(["sh", "-c", 'kubectl kustomize "$1"', "sh", path]));
}

/** Additions to an overlay, as a kustomization has them. */
export interface OverlayParts {
  readonly components: readonly string[];
  /** @default {none} */
  readonly patches?: readonly unknown[];
}

/** A new folder with an overlay beside this one of ours, as a user would write it. The caller removes it. */
export async function makeOverlay(
  overlay: string,
  { components, patches = [] }: OverlayParts,
): Promise<string> {
  const folder = await Deno.makeTempDir({ prefix: "coallocator-overlay-" });
  const manifests = relative(folder, MANIFESTS);
  const kustomization = {
    apiVersion: "kustomize.config.k8s.io/v1beta1",
    kind: "Kustomization",
    resources: [`${manifests}/${overlay}`],
    components: components.map((component) => `${manifests}/components/${component}`),
    patches,
  };
  await Deno.writeTextFile(`${folder}/kustomization.yaml`, JSON.stringify(kustomization));
  return folder;
}

export async function renderWith(overlay: string, parts: OverlayParts): Promise<ManifestObject[]> {
  const folder = await makeOverlay(overlay, parts);
  try {
    return await renderFolder(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

export function componentNames(): readonly string[] {
  return [...Deno.readDirSync(`${MANIFESTS}/components`)].map(({ name }) => name).toSorted();
}

export function parseObjects(text: string): ManifestObject[] {
  return parseAllDocuments(text).map((document) => document.toJS()).filter(Boolean);
}

/**
 * Applies definitions, rights and policies of the product without its programs, and waits until the
 * definitions are served; what is there already stays.
 */
export async function applyRights(kubectl: Kubectl): Promise<void> {
  const kinds = /^(Namespace|CustomResource|ServiceAccount|(Cluster)?Role|ValidatingAdmission)/;
  const objects = [
    ...await renderManifests("overlays/kind"),
    ...await renderManifests("crds/rightsizing"),
  ];
  await applyForced(kubectl, objects.filter(({ kind }) => kinds.test(kind)));
}

const definitionSchema = z.object({
  spec: z.object({
    group: z.string(),
    names: z.object({ plural: z.string() }),
    versions: z.tuple([z.object({ name: z.string() })]),
  }),
});

async function applyForced(kubectl: Kubectl, items: readonly ManifestObject[]): Promise<void> {
  await kubectl.must(["apply", "--server-side", "--force-conflicts", "-f", "-"], {
    apiVersion: "v1",
    kind: "List",
    items,
  });
  const definitions = items.filter(({ kind }) => kind === "CustomResourceDefinition");
  for (const definition of definitions) {
    const { spec: { group, names, versions: [{ name }] } } = definitionSchema.parse(definition);
    // From the watch cache, which is made for the first request: until then the answer is a 429 to all.
    const path = `/apis/${group}/${name}/${names.plural}?resourceVersion=0&limit=1`;
    await until(`served ${names.plural}`, async () => {
      return (await kubectl.run(["get", "--raw", path])).ok || undefined;
    });
  }
}
