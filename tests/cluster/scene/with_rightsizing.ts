/**
 * The product with rightsizing turned on for a while.
 *
 * @module
 */
import { relative } from "node:path";
import { stringify } from "yaml";
import type { Kubectl } from "../kubectl.ts";
import { type ManifestObject, parseObjects } from "../rendered_manifests.ts";
import { withSettings } from "./with_settings.ts";

const MANIFESTS = new URL("../../../manifests", import.meta.url).pathname;
/** What of the component is not in the base already. */
const OF_COMPONENT = /^(CustomResourceDefinition|(Cluster)?Role(Binding)?)$/;

/** Settings beside the one that turns it on. */
export type RightsizingSettings = Readonly<Record<string, unknown>> & {
  readonly rightsizing?: Readonly<Record<string, unknown>>;
};

/**
 * Applies definitions and rights of the component, and restarts the programs with it turned on. In the end
 * the settings are as before; definitions and rights stay, and do nothing.
 */
export async function withRightsizing(
  kubectl: Kubectl,
  settings: RightsizingSettings = {},
): Promise<AsyncDisposable> {
  const items = await componentObjects(kubectl);
  await kubectl.must(["apply", "--server-side", "--force-conflicts", "-f", "-"], {
    apiVersion: "v1",
    kind: "List",
    items,
  });
  for (const { kind, metadata } of items) {
    if (kind !== "CustomResourceDefinition") continue;
    const path = `crd/${metadata.name}`;
    await kubectl.must(["wait", "--for=condition=Established", path, "--timeout=30s"]);
  }
  return await withSettings({
    ...settings,
    rightsizing: { ...settings.rightsizing, enabled: true },
  });
}

/** The component over the overlay that is installed, as somebody would write it. */
async function componentObjects(kubectl: Kubectl): Promise<readonly ManifestObject[]> {
  const folder = await Deno.makeTempDir({ prefix: "coallocator-rightsizing-" });
  try {
    const manifests = relative(folder, MANIFESTS);
    await Deno.writeTextFile(
      `${folder}/kustomization.yaml`,
      stringify({
        apiVersion: "kustomize.config.k8s.io/v1beta1",
        kind: "Kustomization",
        resources: [`${manifests}/overlays/kind`],
        components: [`${manifests}/components/rightsizing`],
      }),
    );
    const objects = parseObjects(await kubectl.must(["kustomize", folder]));
    return objects.filter(({ kind }) => OF_COMPONENT.test(kind));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
