/**
 * The manifests as kustomize renders them; needs kubectl, but no cluster.
 *
 * @module
 */
import assert from "node:assert/strict";
import {
  type OverlayParts,
  renderFolder,
  renderManifests,
  renderWith as renderOverlay,
} from "../cluster/rendered_manifests.ts";

/** The parts of a container that tests read. */
export interface RenderedContainer {
  readonly image: string;
  readonly resources: Readonly<Record<"requests" | "limits", Record<string, string>>>;
  readonly args: readonly string[];
  readonly env: readonly unknown[];
  readonly volumeMounts: readonly { name: string; mountPath: string; readOnly?: boolean }[];
}

/** The parts of a pod template's spec that they read. */
export interface RenderedPodSpec {
  readonly containers: readonly [RenderedContainer, ...RenderedContainer[]];
  readonly volumes: readonly unknown[];
}

/** An object of a manifest, with the fields that its kind has: a wrong path fails a test. */
export interface Rendered {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Record<string, string> };
  readonly spec: {
    readonly template: {
      readonly spec: RenderedPodSpec;
    };
    readonly podMetricsEndpoints: readonly [{ readonly honorLabels?: boolean }];
    readonly groups: readonly { readonly rules: readonly { readonly expr: string }[] }[];
  };
}

export function render(folder: string): Promise<Rendered[]> {
  return renderManifests(folder) as Promise<unknown> as Promise<Rendered[]>;
}

/** The base with these components, by an overlay as a user would write it. */
export function renderWith(
  components: readonly string[],
  { patches = [] }: Partial<OverlayParts> = {},
): Promise<Rendered[]> {
  return renderOverlay("base", { components, patches }) as Promise<unknown> as Promise<Rendered[]>;
}

/** A folder of these files, by name: one is the `kustomization.yaml`. */
export async function renderFiles(files: Readonly<Record<string, string>>): Promise<Rendered[]> {
  const folder = await Deno.makeTempDir();
  try {
    for (const [name, text] of Object.entries(files)) {
      await Deno.mkdir(`${folder}/${name}`.replace(/\/[^/]*$/, ""), { recursive: true });
      await Deno.writeTextFile(`${folder}/${name}`, text);
    }
    return await renderFolder(folder) as unknown as Rendered[];
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

export function one(objects: readonly Rendered[], kind: string, name: string): Rendered {
  const found = objects.filter((object) => object.kind === kind && object.metadata.name === name);
  assert.equal(found.length, 1, `${found.length} objects ${kind}/${name}`);
  return found[0] as Rendered;
}
