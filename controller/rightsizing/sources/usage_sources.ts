/**
 * The sources by the names under which policies ask for them.
 *
 * @module
 */
import type { Clock } from "../../../shared/clock.ts";
import type { Log } from "../../../shared/log.ts";
import { quotedText } from "../../../shared/quoted_text.ts";
import type { PolicySpec } from "../../../shared/rightsizing/policy_spec.ts";
import type { UsageSource } from "../ports.ts";
import type { RightsizingObserver } from "../rightsizing_observer.ts";
import { createBoundedUsage } from "./bounded_usage.ts";
import { cacheLifeMs, createUsageCache, type UsageCache } from "./usage_cache.ts";

/** How the sources are made; none is before a policy asks for it. */
export interface UsageSourceParts {
  readonly prometheus: () => UsageSource;
  readonly metricsServer: () => UsageSource;
  /** By the name in the configuration. */
  readonly custom: ReadonlyMap<string, () => UsageSource>;
  readonly clock: Pick<Clock, "monotonic" | "sleep">;
  readonly log: Log;
  /** Hears how long a source took for an answer; of what was cached it hears nothing. */
  readonly collected?: RightsizingObserver["collected"];
}

/** The sources. */
export interface UsageSources {
  /**
   * That of a policy, with its cache. Where there is none of the name, or it could not be started, one
   * that says so; the others are as they were.
   */
  of(policy: Pick<PolicySpec, "provider" | "customSource" | "intervalMs">): UsageSource;
}

/** Sources that are made when they are asked for. A start that failed is tried again, after a pause. */
export function createUsageSources(
  { prometheus, metricsServer, custom, clock, log, collected }: UsageSourceParts,
): UsageSources {
  const caches = new Map<string, UsageCache>();
  const failures = new Map<string, { readonly atMs: number; readonly message: string }>();

  function started(name: string, start: () => UsageSource): UsageCache {
    const known = caches.get(name);
    if (known !== undefined) return known;
    const failure = failures.get(name);
    const rests = failure !== undefined && clock.monotonic() - failure.atMs < RETRY_MS;
    if (rests) return unavailable(failure.message);
    try {
      const source = createBoundedUsage(start(), {
        clock,
        answered: (tookMs) => collected?.(providerOf(name), tookMs),
      });
      const cache = createUsageCache({ source, clock });
      caches.set(name, cache);
      failures.delete(name);
      return cache;
    } catch (error) {
      const message = `the source could not be started: ${
        error instanceof Error ? error.message : String(error)
      }`;
      failures.set(name, { atMs: clock.monotonic(), message });
      log.warn("A source of usage could not be started", { source: name, error: message });
      return unavailable(message);
    }
  }

  function cacheOf({ provider, customSource = "" }: Parameters<UsageSources["of"]>[0]): UsageCache {
    if (provider === "prometheus") return started(provider, prometheus);
    if (provider === "metrics-server") return started(provider, metricsServer);
    const start = custom.get(customSource);
    if (start !== undefined) return started(`custom ${customSource}`, start);
    const names = [...custom.keys()].join(", ");
    return unavailable(
      `no custom source ${quotedText(customSource)} is configured; there ${
        names === "" ? "are none" : `are: ${names}`
      }`,
    );
  }

  return { of: (policy) => cacheOf(policy).within(cacheLifeMs(policy)) };
}

/** Between two attempts to start a source, ms. */
const RETRY_MS = 30_000;

/** The word of policies: custom sources are of one kind. */
function providerOf(name: string): string {
  return name.replace(/ .*$/, "");
}

/** What stands for a source that there is not. */
function unavailable(message: string): UsageCache {
  const usage: UsageSource["usage"] = () => Promise.resolve({ problem: "unavailable", message });
  return { within: () => ({ usage }) };
}
