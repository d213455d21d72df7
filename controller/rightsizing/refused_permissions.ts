/**
 * Remembers permissions that a 403 has shown to be missing.
 *
 * @module
 */
import type { WorkloadKind } from "../../shared/api/workload.ts";
import type { Clock } from "../../shared/clock.ts";
import type {
  ApplyMethod,
  MissingPermission,
} from "../../shared/rightsizing/guards/rightsizing_snapshot.ts";

/** A workload, as far as permissions go. */
export interface PermissionScope {
  readonly kind: WorkloadKind;
  readonly metadata: { readonly namespace: string };
}

/** Missing permissions by namespace and kind: writes to other workloads there are not tried. */
export interface PermissionMemory {
  /** Notes a permission that a 403 named: `patch deployments.apps in namespace shop`. */
  refused(workload: PermissionScope, permission: string): void;
  missing(workload: PermissionScope): readonly MissingPermission[];
}

/** How long a missing permission is remembered, ms: then a write is sent again, since it may be granted. */
const REMEMBERED_MS = 30_000;

/** The beginnings of the permissions that a method needs. */
const NEEDED: Readonly<Record<ApplyMethod, RegExp>> = {
  InPlace: /^patch pods\/resize/,
  Recreate: /^(get|patch) (deployments|statefulsets|daemonsets)\.apps/,
};

/** An empty memory. */
export function createPermissionMemory(
  { clock }: { readonly clock: Pick<Clock, "monotonic"> },
): PermissionMemory {
  /** By namespace, kind and method. */
  const refusals = new Map<string, { readonly permission: string; readonly atMs: number }>();
  const keyOf = ({ kind, metadata }: PermissionScope, method: string): string =>
    `${metadata.namespace}/${kind}/${method}`;
  const methods = Object.keys(NEEDED) as ApplyMethod[];
  return {
    refused(workload, permission) {
      const method = methods.find((one) => NEEDED[one].test(permission));
      if (method === undefined) return;
      refusals.set(keyOf(workload, method), { permission, atMs: clock.monotonic() });
    },
    missing: (workload) =>
      methods.flatMap((method) => {
        const { permission = "", atMs = -Infinity } = refusals.get(keyOf(workload, method)) ?? {};
        return clock.monotonic() - atMs < REMEMBERED_MS ? [{ method, permission }] : [];
      }),
  };
}
