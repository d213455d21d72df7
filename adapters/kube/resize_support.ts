/**
 * What of resizing in place a server serves.
 *
 * @module
 */
import { readServerVersion, servesResource } from "./api_checks.ts";
import type { KubeConnection } from "./connection.ts";

/** Facts of the same names. */
export interface ResizeSupport {
  /** Whether `pods/resize` is served: discovery tells, also where a feature gate is off. */
  readonly resizeServed: boolean;
  /** Whether memory limits can be lowered there without a restart. */
  readonly lowersMemoryLimits: boolean;
}

/**
 * Before 1.34 the server's validation refuses a lower memory limit (KEP-1287). Neither discovery nor the
 * OpenAPI document tells what validation refuses, so that the version has to.
 */
const LEAST_MINOR = 34;

/** Asks the server. Throws an `ApiError` when it does not answer. */
export async function readResizeSupport(connection: KubeConnection): Promise<ResizeSupport> {
  const [resizeServed, version] = await Promise.all([
    servesResource(connection, { groupVersion: "v1", resource: "pods/resize" }),
    readServerVersion(connection),
  ]);
  return { resizeServed, lowersMemoryLimits: resizeServed && lowersMemoryLimits(version) };
}

/** A version that can't be read gets no benefit of the doubt: a refused resize takes all its values along. */
function lowersMemoryLimits(version: string): boolean {
  const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(version) ?? [];
  return Number(major) > 1 || (major === "1" && Number(minor) >= LEAST_MINOR);
}
