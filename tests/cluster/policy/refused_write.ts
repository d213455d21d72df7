/**
 * Writes that are refused: in which words, and without a trace.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { KubeConnection } from "../../../adapters/kube/client/connection.ts";
import { parseIdentity } from "../../../adapters/kube/kinds/object_fields.ts";
import { ApiError } from "../../../shared/api/api_error.ts";

/** Who refuses, and with which words. */
export interface Refusal {
  /** @default {403} */
  readonly status?: number;
  readonly words: RegExp;
}

/** By the policy over allocations. */
export function byPolicy(words: string): Refusal {
  return { words: denial("mbcas-agent-allocations", words) };
}

/** By the policy over Leases. */
export function byLeasePolicy(words: string): Refusal {
  return { words: denial("mbcas-agent-leases", words) };
}

/** By RBAC, before any policy is asked. */
export function byRBAC(verb: string): Refusal {
  return { words: new RegExp(` cannot ${verb} resource "`) };
}

/** By the CustomResourceDefinition, before any policy is asked and whoever writes. */
export function byDefinition(words: string): Refusal {
  return { status: 422, words: new RegExp(words) };
}

/** The denial of a policy, with these words. */
export function denial(policy: string, words: string): RegExp {
  return new RegExp(`ValidatingAdmissionPolicy '${policy}' .*denied request: .*${words}`);
}

/** Throws unless the server refuses the write like this. */
export async function assertRefused(
  write: () => Promise<unknown>,
  { status = 403, words }: Refusal,
): Promise<void> {
  await assert.rejects(write, (error) => {
    assert.ok(error instanceof ApiError, String(error));
    assert.equal(error.status, status, error.message);
    assert.match(error.message, words);
    return true;
  });
}

/** The object's version, which each change makes another one. */
export async function versionOf(admin: KubeConnection, path: string): Promise<string> {
  return parseIdentity(await admin.request({ path })).resourceVersion;
}
