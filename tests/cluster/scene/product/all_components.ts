/**
 * The product with all its components under one set of settings, for all the tests that need some of
 * them: they are installed once while those files run.
 *
 * @module
 */
import { NETWORK } from "../../harness/instance.ts";
import type { Kubectl } from "../../kubectl.ts";
import { PRODUCT_NAMESPACE } from "./product.ts";
import { withComponents } from "../with_components.ts";

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

/** Installs them, and removes them in the end. */
export async function installAllComponents(kubectl: Kubectl): Promise<AsyncDisposable> {
  const components = ["rightsizing", "webhook", "placement"] as const;
  await using undo = new AsyncDisposableStack();
  undo.defer(() => forget(kubectl));
  undo.use(await withComponents(kubectl, { components, settings: SETTINGS }));
  return undo.move();
}

/** What placement remembers of workloads that are gone would go with its next look, were it on. */
async function forget(kubectl: Kubectl): Promise<void> {
  for (const label of ["spotalis.io/memory", "spotalis.io/placement-status"]) {
    const maps = ["configmap", "-n", PRODUCT_NAMESPACE, "-l", label];
    await kubectl.must(["delete", ...maps, "--ignore-not-found"]);
  }
}

/** The same for one test file, unless they are there for the whole run. */
export async function withAllComponents(kubectl: Kubectl): Promise<AsyncDisposable> {
  if (Deno.env.get(COMPONENTS_INSTALLED) === undefined) return await installAllComponents(kubectl);
  return { [Symbol.asyncDispose]: () => Promise.resolve() };
}
