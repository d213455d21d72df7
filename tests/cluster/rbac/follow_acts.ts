/**
 * The two acts of every copy that a program keeps of a kind of objects: to list, and to watch.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { KubeConnection } from "../../../adapters/kube/client/connection.ts";
import { ApiError } from "../../../shared/api/api_error.ts";
import type { ListWatch } from "../../../shared/control/informer.ts";
import type { ApiObject } from "../../../shared/api/object.ts";
import type { RoleAct } from "./role_act.ts";
import type { RoleStage } from "./role_stage.ts";

/** A kind of objects. */
export interface FollowedKind {
  /** As in the text of its rights, for instance `deployments.apps`, with what narrows them. */
  readonly rights: string;
  /** A description. */
  readonly kind: string;
  readonly source: (connection: KubeConnection, stage: RoleStage) => ListWatch<ApiObject>;
  /** The name of an object on the stage. */
  readonly name: (stage: RoleStage) => string;
  /** False where the cluster does not serve the kind: then nothing is listed, and a watch is a 404. */
  readonly served?: (stage: RoleStage) => boolean;
}

/** How long a watch from the beginning may take to show an object that was there before, ms. */
const SHOWN_WITHIN_MS = 10_000;

/** An act for `list` and one for `watch`. */
export function followActs(followed: FollowedKind): readonly [list: RoleAct, watch: RoleAct] {
  const { rights, kind, source, name, served = () => true } = followed;
  return [
    {
      right: `list ${rights}`,
      deed: `copy the ${kind}`,
      async perform(connection, stage) {
        const { items } = await source(connection, stage).list(new AbortController().signal);
        const names = items.map(({ metadata }) => metadata.name);
        if (served(stage)) assert.ok(names.includes(name(stage)), `only ${names.join(", ")}`);
        else assert.deepEqual(names, []);
      },
    },
    {
      right: `watch ${rights}`,
      deed: `follow the ${kind}`,
      async perform(connection, stage) {
        const shown = watchUntil(source(connection, stage), name(stage));
        if (served(stage)) return await shown;
        // RBAC is asked before the server looks whether it has the kind: a 404 is for permitted
        // accounts.
        await assert.rejects(shown, (error) => error instanceof ApiError && error.status === 404);
      },
    },
  ];
}

/** From version 0 a watch begins with what is there. */
async function watchUntil(source: ListWatch<ApiObject>, name: string): Promise<void> {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), SHOWN_WITHIN_MS);
  try {
    for await (const event of source.watch("0", stop.signal)) {
      if (event.type !== "BOOKMARK" && event.object.metadata.name === name) return;
    }
    throw new Error(`Cannot follow: ${name} was not shown within ${SHOWN_WITHIN_MS} ms`);
  } finally {
    clearTimeout(timer);
    stop.abort();
  }
}
