/**
 * The product with components for a while, as a user would install them.
 *
 * @module
 */
import type { Kubectl } from "../kubectl.ts";
import {
  makeOverlay,
  type ManifestObject,
  type OverlaySettings,
  parseObjects,
  renderManifests,
} from "../rendered_manifests.ts";
import { PRODUCT_NAMESPACE } from "./product/product.ts";

const MANIFESTS = new URL("../../../manifests", import.meta.url).pathname;
const OVERLAY = "overlays/kind";
const CONTROLLER = ["deployment/mbcas-controller", "-n", PRODUCT_NAMESPACE];

/** Turned on by components. */
export interface TurnedOn extends OverlaySettings {
  readonly components: readonly ("rightsizing" | "webhook" | "placement")[];
}

/**
 * Applies the overlay that is installed with the components, and waits until the controllers run with
 * them. In the end the overlay alone is applied again, and what only the components have is deleted but
 * for the definitions.
 */
export async function withComponents(
  kubectl: Kubectl,
  { components, ...settings }: TurnedOn,
): Promise<AsyncDisposable> {
  const folder = await makeOverlay(OVERLAY, { components, ...settings });
  const names = ({ kind, metadata: { namespace = "", name } }: ManifestObject): string =>
    `${kind}/${namespace}/${name}`;
  const usual = new Set((await renderManifests(kubectl, OVERLAY)).map(names));
  const added = parseObjects(await kubectl.must(["kustomize", folder]))
    .filter((object) => !usual.has(names(object)));
  const restore = async (): Promise<void> => {
    await Deno.remove(folder, { recursive: true });
    await kubectl.must(["apply", "-k", `${MANIFESTS}/${OVERLAY}`]);
    const items = added.filter(({ kind }) => kind !== "CustomResourceDefinition");
    const list = { apiVersion: "v1", kind: "List", items };
    await kubectl.must(["delete", "--ignore-not-found", "-f", "-"], list);
    await kubectl.must(["rollout", "status", ...CONTROLLER, "--timeout=120s"]);
  };
  try {
    // Definitions first: nothing else is known of their kinds.
    const items = added.filter(({ kind }) => kind === "CustomResourceDefinition");
    if (items.length > 0) {
      const list = { apiVersion: "v1", kind: "List", items };
      await kubectl.must(["apply", "--server-side", "-f", "-"], list);
    }
    await kubectl.must(["apply", "-k", folder]);
    await kubectl.must(["rollout", "status", ...CONTROLLER, "--timeout=120s"]);
  } catch (error) {
    await restore();
    throw error;
  }
  return { [Symbol.asyncDispose]: restore };
}
