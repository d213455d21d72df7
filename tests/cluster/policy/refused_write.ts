/**
 * Writes that are refused with a message and without a trace.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { KubeConnection } from "../../../adapters/kube/client/connection.ts";
import { parseIdentity } from "../../../adapters/kube/kinds/object_fields.ts";
import { ApiError } from "../../../shared/api/api_error.ts";

/** The status and the message of a refusal. */
export interface Refusal {
  /** @default {403} */
  readonly status?: number;
  readonly message: RegExp;
}

/** By the policy over allocations. */
export function byPolicy(message: string): Refusal {
  return { message: denial("mbcas-agent-allocations", message) };
}

/** By the policy over Leases. */
export function byLeasePolicy(message: string): Refusal {
  return { message: denial("mbcas-agent-leases", message) };
}

/** By RBAC, before any policy is asked. */
export function byRBAC(verb: string): Refusal {
  return { message: new RegExp(` cannot ${verb} resource "`) };
}

/** By the CustomResourceDefinition, before any policy is evaluated, for every writer. */
export function byDefinition(message: string): Refusal {
  return { status: 422, message: new RegExp(message) };
}

/** The denial of a policy, with this message. */
export function denial(policy: string, message: string): RegExp {
  return new RegExp(`ValidatingAdmissionPolicy '${policy}' .*denied request: .*${message}`);
}

/** Throws unless the server refuses the write like this. */
export async function assertRefused(
  write: () => Promise<unknown>,
  { status = 403, message }: Refusal,
): Promise<void> {
  await assert.rejects(write, (error) => {
    assert.ok(error instanceof ApiError, String(error));
    assert.equal(error.status, status, error.message);
    assert.match(error.message, message);
    return true;
  });
}

/** The object's version, which each change makes another one. */
export async function versionOf(admin: KubeConnection, path: string): Promise<string> {
  return parseIdentity(await admin.request({ path })).resourceVersion;
}
