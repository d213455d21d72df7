/**
 * The product with all its components under one set of settings, for all the tests that need some of
 * them: they are installed once while those files run.
 *
 * @module
 */
import { NETWORK } from "../harness/instance.ts";
import type { Kubectl } from "../kubectl.ts";
import { PRODUCT_NAMESPACE } from "./product.ts";
import { stringify } from "yaml";
import {
  makeOverlay,
  type ManifestObject,
  renderFolder,
  renderManifests,
} from "../rendered_manifests.ts";

/** Set for the test files of a run that has installed them already. */
export const COMPONENTS_INSTALLED = "COALLOCATOR_COMPONENTS_INSTALLED";

/** Times of placement, short enough for tests; what they wait for is a multiple of them. */
export const PLACEMENT_TIMES = {
  cooldownMs: 1000,
  scheduleTimeoutMs: 5000,
  fallbackMs: 15_000,
} as const;

/** Where a test may start a Prometheus: on the node's address, which pods reach. */
export const PROMETHEUS_ADDRESS = `${NETWORK.node}:9091`;

const SETTINGS = {
  rightsizing: { samplerInterval: "5s" },
  metrics: { prometheusURL: `http://${PROMETHEUS_ADDRESS}` },
  placement: {
    resyncPeriod: "5s",
    cooldown: `${PLACEMENT_TIMES.cooldownMs}ms`,
    evictionsPerSecond: 20,
    evictionBurst: 20,
    scheduleTimeout: `${PLACEMENT_TIMES.scheduleTimeoutMs}ms`,
    fallbackDuration: `${PLACEMENT_TIMES.fallbackMs}ms`,
  },
};

const COMPONENTS = ["rightsizing", "webhook", "placement"] as const;
const OVERLAY = "overlays/kind";
const OVERLAY_FOLDER = new URL(`../../../manifests/${OVERLAY}`, import.meta.url).pathname;
const CONTROLLER = ["deployment/mbcas-controller", "-n", PRODUCT_NAMESPACE];

/**
 * Applies the overlay that is installed with the components, and waits until the controllers run with
 * them. In the end the overlay alone is applied again, and what only the components have is deleted but
 * for the definitions.
 */
export async function installAllComponents(kubectl: Kubectl): Promise<AsyncDisposable> {
  const value = stringify(SETTINGS);
  const folder = await makeOverlay(OVERLAY, {
    components: COMPONENTS,
    patches: [{
      target: { kind: "ConfigMap", name: "mbcas-config" },
      patch: stringify([{ op: "replace", path: "/data/config.yaml", value }]),
    }],
  });
  const names = ({ kind, metadata: { namespace = "", name } }: ManifestObject): string =>
    `${kind}/${namespace}/${name}`;
  const usual = new Set((await renderManifests(OVERLAY)).map(names));
  const added = (await renderFolder(folder)).filter((object) => !usual.has(names(object)));
  const listOf = (isDefinition: boolean) => ({
    ...{ apiVersion: "v1", kind: "List" },
    items: added.filter(({ kind }) => (kind === "CustomResourceDefinition") === isDefinition),
  });
  const rolledOut = ["rollout", "status", ...CONTROLLER, "--timeout=120s"];
  const restore = async (): Promise<void> => {
    await Deno.remove(folder, { recursive: true });
    await kubectl.must(["apply", "-k", OVERLAY_FOLDER]);
    await kubectl.must(["delete", "--ignore-not-found", "-f", "-"], listOf(false));
    await kubectl.must(rolledOut);
    // Placement's ConfigMaps would go with its next look, were it on.
    for (const label of ["spotalis.io/memory", "spotalis.io/placement-status"]) {
      const maps = ["configmap", "-n", PRODUCT_NAMESPACE, "-l", label];
      await kubectl.must(["delete", ...maps, "--ignore-not-found"]);
    }
  };
  try {
    // Definitions first: nothing else is known of their kinds.
    await kubectl.must(["apply", "--server-side", "-f", "-"], listOf(true));
    await kubectl.must(["apply", "-k", folder]);
    await kubectl.must(rolledOut);
  } catch (error) {
    await restore();
    throw error;
  }
  return { [Symbol.asyncDispose]: restore };
}

/** The same for one test file, unless they are there for the whole run. */
export async function withAllComponents(kubectl: Kubectl): Promise<AsyncDisposable> {
  if (Deno.env.get(COMPONENTS_INSTALLED) === undefined) return await installAllComponents(kubectl);
  return { [Symbol.asyncDispose]: () => Promise.resolve() };
}
