/**
 * The manifests as `kubectl kustomize` renders them.
 *
 * @module
 */
import { parseAllDocuments } from "yaml";
import type { Kubectl } from "./kubectl.ts";

/** An object of a manifest: what every kind has, and the rest untyped. */
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

/** The objects of a folder below `manifests/`, for instance `overlays/kind`. */
export async function renderManifests(kubectl: Kubectl, folder: string): Promise<ManifestObject[]> {
  const path = new URL(`../../manifests/${folder}`, import.meta.url).pathname;
  return parseObjects(await kubectl.must(["kustomize", path]));
}

/** The objects of a manifest's text. */
export function parseObjects(text: string): ManifestObject[] {
  return parseAllDocuments(text).map((document) => document.toJS()).filter(Boolean);
}

/**
 * Applies definitions, rights and policies of the product without its programs; what is there already
 * stays.
 */
export async function applyRights(kubectl: Kubectl): Promise<void> {
  const kinds = /^(Namespace|CustomResource|ServiceAccount|(Cluster)?Role|ValidatingAdmission)/;
  const objects = [
    ...await renderManifests(kubectl, "overlays/kind"),
    ...await renderManifests(kubectl, "crds/rightsizing"),
  ];
  const items = objects.filter(({ kind }) => kinds.test(kind));
  await kubectl.must(["apply", "--server-side", "--force-conflicts", "-f", "-"], {
    apiVersion: "v1",
    kind: "List",
    items,
  });
}
