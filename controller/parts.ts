/**
 * The controller's parts over its ports: caches, metrics, rightsizing and placement as the settings
 * have them.
 *
 * @module
 */
import type { Registry } from "prom-client";
import { createCaches, namedCaches } from "./caches.ts";
import { createControllerMetrics } from "./metrics.ts";
import { createPlacementMetrics } from "./placement/metrics.ts";
import { createPlacement } from "./placement/placement.ts";
import { createRightsizingMetrics } from "./rightsizing/metrics.ts";
import type { ControllerParts } from "./run_controller.ts";

/** The parts, and why the caches are not ready; undefined once all are in sync. */
export type CreatedParts =
  & Pick<ControllerParts, "caches" | "metrics" | "rightsizing" | "placement">
  & { readonly unsynced: () => string | undefined };

/** Creates the parts that read the caches, and the caches. Metrics go into `registry`. */
export function createParts(
  { api, settings, registry, ...shared }:
    & Pick<ControllerParts, "api" | "settings" | "clock" | "log" | "random" | "audit">
    & { readonly registry: Registry },
): CreatedParts {
  const values = settings.values();
  const caches = createCaches(api.sources, shared);
  const placement = api.placement && createPlacement({
    ...shared,
    api: api.placement,
    caches,
    settings: settings.values,
    webhook: values.webhook,
    observer: createPlacementMetrics(registry),
  });
  const rightsizing = values.rightsizing && {
    settings: settings.values,
    observer: createRightsizingMetrics(registry),
  };
  const allCaches = [...namedCaches(caches), ...Object.entries(placement?.informers ?? {})];
  const metrics = createControllerMetrics(registry, {
    allocations: caches.allocations.all,
    synced: () => allCaches.map(([kind, { synced }]) => [kind, synced] as const),
    settings: settings.values,
    settingsValid: () => settings.valid,
  });
  return {
    ...{ caches, metrics },
    ...(rightsizing ? { rightsizing } : {}),
    ...(placement ? { placement } : {}),
    unsynced() {
      const names = allCaches.filter(([, { synced }]) => !synced).map(([name]) => name);
      return names.length === 0 ? undefined : `not in sync: ${names.join(", ")}`;
    },
  };
}
