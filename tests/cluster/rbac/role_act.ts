/**
 * Something that a program does, and the one right without which it can't.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { AccessRule } from "../../../adapters/kube/client/api_checks.ts";
import type { KubeConnection } from "../../../adapters/kube/client/connection.ts";
import { ApiError } from "../../../shared/api/api_error.ts";
import { refusedByRBAC } from "./rbac_refusal.ts";
import type { RoleStage } from "./role_stage.ts";

/** An act, done with the product's own adapters. */
export interface RoleAct {
  /** The right, as `accessRuleText()` writes it. */
  readonly right: string;
  /** What the program then can't do, as in "can't resize a pod". */
  readonly deed: string;
  /** Does it; throws when it had no effect. */
  perform(connection: KubeConnection, stage: RoleStage): Promise<void>;
}

/** What became of an act. */
export interface ActOutcome {
  /** The server's answers 403, those that an adapter keeps to itself too. */
  readonly refusals: readonly ApiError[];
  /** What the act threw; undefined when it had its effect. */
  readonly failure: unknown;
}

/** Does the act with these rights. Never throws. */
export async function performAct(
  act: RoleAct,
  { connection, stage }: { readonly connection: KubeConnection; readonly stage: RoleStage },
): Promise<ActOutcome> {
  const refusals: ApiError[] = [];
  const note = (error: unknown): never => {
    if (error instanceof ApiError && error.status === 403) refusals.push(error);
    throw error;
  };
  const noting: KubeConnection = {
    request: (request) => connection.request(request).catch(note),
    async *lines(request) {
      try {
        yield* connection.lines(request);
      } catch (error) {
        note(error);
      }
    },
  };
  try {
    await act.perform(noting, stage);
    return { refusals, failure: undefined };
  } catch (failure) {
    return { refusals, failure };
  }
}

/** Throws unless the act had its effect and nothing was refused. */
export function assertDone({ refusals, failure }: ActOutcome): void {
  assert.deepEqual(refusals.map(String), []);
  assert.ifError(failure);
}

/** Throws unless RBAC refused just this right, and nothing else was refused. */
export function assertRefused({ refusals }: ActOutcome, right: AccessRule): void {
  const { verb, group, resource, subresource } = right;
  const full = subresource === undefined ? resource : `${resource}/${subresource}`;
  assert.deepEqual(
    refusals.map((error) => refusedByRBAC(error) ?? String(error)),
    [{ verb, group, resource: full }],
  );
}

/** Rights that no act needs, and acts with a right that is not among these. */
export function unmatched(
  rights: readonly AccessRule[],
  acts: readonly RoleAct[],
): { readonly unused: readonly string[]; readonly missing: readonly string[] } {
  const given = rights.map(accessRuleText);
  const needed = acts.map(({ right }) => right);
  return {
    unused: given.filter((right) => !needed.includes(right)),
    missing: needed.filter((right) => !given.includes(right)),
  };
}

/** The rule as `kubectl auth can-i` has it: `patch pods/resize in shop`. */
export function accessRuleText(rule: AccessRule): string {
  const { verb, group, resource, subresource, namespace, name } = rule;
  const kind = subresource === undefined ? resource : `${resource}/${subresource}`;
  return `${verb} ${kind}${group === "" ? "" : `.${group}`}` +
    (name === undefined ? "" : ` "${name}"`) +
    (namespace === undefined ? "" : ` in ${namespace}`);
}
