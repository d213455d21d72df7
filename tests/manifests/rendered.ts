/**
 * The manifests as kustomize renders them; needs kubectl, but no cluster.
 *
 * @module
 */
import assert from "node:assert/strict";
import {
  type ManifestObject,
  type OverlayParts,
  renderFolder,
  renderManifests,
  renderWith as renderOverlay,
} from "../cluster/rendered_manifests.ts";

export type Rendered = ManifestObject;

/** JSON as tests read it: a wrong path into it fails a test. */
export type Untyped = ReturnType<typeof JSON.parse>;

export function render(folder: string): Promise<Rendered[]> {
  return renderManifests(folder);
}

/** The base with these components, by an overlay as a user would write it. */
export function renderWith(
  components: readonly string[],
  { patches = [] }: Partial<OverlayParts> = {},
): Promise<Rendered[]> {
  return renderOverlay("base", { components, patches });
}

/** A folder of these files, by name: one is the `kustomization.yaml`. */
export async function renderFiles(files: Readonly<Record<string, string>>): Promise<Rendered[]> {
  const folder = await Deno.makeTempDir();
  try {
    for (const [name, text] of Object.entries(files)) {
      await Deno.mkdir(`${folder}/${name}`.replace(/\/[^/]*$/, ""), { recursive: true });
      await Deno.writeTextFile(`${folder}/${name}`, text);
    }
    return await renderFolder(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

export const hasKubectl: boolean =
  new Deno.Command("sh", { args: ["-c", "command -v kubectl"], stdout: "null" })
    .outputSync().success;

export function renderTest(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, ignore: !hasKubectl, fn });
}

export function one(objects: readonly Rendered[], kind: string, name: string): Untyped {
  const found = objects.filter((object) => object.kind === kind && object.metadata.name === name);
  assert.equal(found.length, 1, `${found.length} objects ${kind}/${name}`);
  return found[0];
}
