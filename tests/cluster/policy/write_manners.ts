/**
 * The manners in which the API takes changes of an object: all of them must meet the same policies.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { KubeConnection, KubeRequest } from "../../../adapters/kube/client/connection.ts";
import { objectOf } from "../../../adapters/kube/client/json_fields.ts";
import { parseIdentity } from "../../../adapters/kube/kinds/object_fields.ts";
import { ApiError } from "../../../shared/api/api_error.ts";

/** What is written: members of metadata, spec and status; null takes one away. */
export interface Change {
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>>;
}

/** An object of the API. */
export interface Target {
  readonly apiVersion: string;
  readonly kind: string;
  /** Of the object. */
  readonly path: string;
  /** Writes the object's status, and nothing else of it. */
  readonly statusOnly?: boolean;
  /** Tries the change without keeping it. */
  readonly dryRun?: boolean;
}

/** One of them. */
export type Manner = "update" | "patch" | "apply";

/** All of them. */
export const MANNERS: readonly Manner[] = ["update", "patch", "apply"];

/** Writes the change in this manner. Throws an `ApiError`; reading what is there needs a right too. */
export async function write(
  connection: KubeConnection,
  { manner, target, change }: {
    readonly manner: Manner;
    readonly target: Target;
    readonly change: Change;
  },
): Promise<void> {
  const { path, apiVersion, kind, dryRun = false, statusOnly = false } = target;
  // Each apply by another manager: it would take away what the same one applied before.
  const fieldManager = `try-${crypto.randomUUID()}`;
  const query: Record<string, string> = { fieldManager, ...(dryRun ? { dryRun: "All" } : {}) };
  const send = (request: Omit<KubeRequest, "path" | "query">, more = {}): Promise<unknown> =>
    connection.request({
      ...request,
      path: statusOnly ? `${path}/status` : path,
      query: { ...query, ...more },
    });
  if (manner === "patch") {
    const contentType = "application/merge-patch+json";
    await send({ method: "PATCH", contentType, body: change });
  } else if (manner === "apply") {
    const name = decodeURIComponent(path.slice(path.lastIndexOf("/") + 1));
    // JSON is YAML.
    const contentType = "application/apply-patch+yaml";
    const body = { apiVersion, kind, ...change, metadata: { name, ...change.metadata } };
    await send({ method: "PATCH", contentType, body }, { force: "true" });
  } else {
    const present = objectOf(await connection.request({ path }));
    const merged = (member: keyof Change): Record<string, unknown> =>
      merge(objectOf(present[member]), change[member] ?? {});
    const body = {
      ...present,
      metadata: merged("metadata"),
      spec: merged("spec"),
      ...(change.status === undefined ? {} : { status: merged("status") }),
    };
    await send({ method: "PUT", body });
  }
}

function merge(
  present: Readonly<Record<string, unknown>>,
  change: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const merged = { ...present, ...change };
  for (const [member, value] of Object.entries(change)) if (value === null) delete merged[member];
  return merged;
}

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
