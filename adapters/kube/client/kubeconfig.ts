/**
 * A kubeconfig, from one or several files: contexts, clusters and users.
 *
 * Only one small module of client-node is imported: the whole package, and its `KubeConfig` class,
 * load the models of every API (see docs/decisions).
 *
 * @module
 */
import {
  type Cluster,
  type Context,
  newClusters,
  newContexts,
  newUsers,
  type User,
} from "@kubernetes/client-node/dist/config_types.js";
import { dirname, resolve } from "node:path";
import { parse } from "yaml";
import { listOf, objectOf, present, textOf } from "./json_fields.ts";

/** A cluster; paths are absolute, data are base64. */
export type KubeconfigCluster = Cluster;

/** A context. */
export type KubeconfigContext = Context;

/** A user; paths are absolute, data are base64, `exec` and `authProvider` raw. */
export type KubeconfigUser = User & {
  /** A file with a bearer token, which is read again every minute. */
  readonly tokenFile?: string;
};

/** The files' content; of two entries with the same name the first counts, as in kubectl. */
export interface Kubeconfig {
  readonly currentContext: string | undefined;
  readonly contexts: readonly KubeconfigContext[];
  readonly clusters: readonly KubeconfigCluster[];
  readonly users: readonly KubeconfigUser[];
}

/** One file. */
export interface KubeconfigFile {
  /** For messages, and to resolve relative paths in the file. */
  readonly path: string;
  readonly text: string;
}

/** A context with its cluster and user. */
export interface KubeconfigTarget {
  readonly context: KubeconfigContext;
  readonly cluster: KubeconfigCluster;
  readonly user: KubeconfigUser | undefined;
}

/** Reads and merges the files. Throws a `SyntaxError` that names the file and the fault. */
export function parseKubeconfig(files: readonly KubeconfigFile[]): Kubeconfig {
  const parsed = files.map(parseFile);
  return {
    currentContext: parsed.find(({ currentContext }) => currentContext !== undefined)
      ?.currentContext,
    contexts: firstOfName(parsed.flatMap(({ contexts }) => contexts)),
    clusters: firstOfName(parsed.flatMap(({ clusters }) => clusters)),
    users: firstOfName(parsed.flatMap(({ users }) => users)),
  };
}

/** The target of a context, by default the current one. Throws a `RangeError` when it is missing. */
export function targetOf(config: Kubeconfig, contextName?: string): KubeconfigTarget {
  const name = contextName ?? config.currentContext;
  if (name === undefined) {
    throw new RangeError(
      "Cannot choose a context: the kubeconfig has no current-context, name one of " +
        namesOf(config.contexts),
    );
  }
  const context = config.contexts.find((one) => one.name === name);
  if (context === undefined) {
    throw new RangeError(
      `Cannot use context "${name}": the kubeconfig has ${namesOf(config.contexts)}`,
    );
  }
  const cluster = config.clusters.find((one) => one.name === context.cluster);
  if (cluster === undefined) {
    throw new RangeError(
      `Cannot use context "${name}": its cluster "${context.cluster}" is not among ` +
        namesOf(config.clusters),
    );
  }
  const user = config.users.find((one) => one.name === context.user);
  if (user === undefined && context.user !== undefined) {
    throw new RangeError(
      `Cannot use context "${name}": its user "${context.user}" is not among ` +
        namesOf(config.users),
    );
  }
  return { context, cluster, user };
}

function namesOf(entries: readonly { readonly name: string }[]): string {
  return entries.length === 0 ? "none" : entries.map(({ name }) => `"${name}"`).join(", ");
}

function firstOfName<T extends { readonly name: string }>(entries: readonly T[]): readonly T[] {
  const seen = new Map<string, T>();
  for (const entry of entries) {
    if (!seen.has(entry.name)) seen.set(entry.name, entry);
  }
  return [...seen.values()];
}

function parseFile({ path, text }: KubeconfigFile): Kubeconfig {
  const directory = dirname(path);
  const absolute = <T extends object>(entry: T, members: readonly (keyof T)[]): T => {
    const copy = { ...entry };
    for (const member of members) {
      const file = copy[member];
      if (typeof file === "string" && file !== "") {
        Object.assign(copy, { [member]: resolve(directory, file) });
      }
    }
    return copy;
  };
  try {
    const content = objectOf(parse(text));
    const rawUsers = listOf(content.users);
    const users = newUsers(rawUsers).map((user, index): KubeconfigUser => ({
      ...user,
      ...present("tokenFile", textOf(objectOf(objectOf(rawUsers[index]).user).tokenFile)),
    }));
    return {
      currentContext: textOf(content["current-context"]),
      contexts: newContexts(listOf(content.contexts)),
      clusters: newClusters(listOf(content.clusters)).map((one) => absolute(one, ["caFile"])),
      users: users.map((one) => absolute(one, ["certFile", "keyFile", "tokenFile"])),
    };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new SyntaxError(`Cannot read kubeconfig ${path}: ${message}`, { cause: error });
  }
}
