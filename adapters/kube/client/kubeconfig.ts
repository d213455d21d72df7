/**
 * A kubeconfig, from one or several files: contexts, clusters and users, and a user's credentials.
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
import { Buffer } from "node:buffer";
import type { Clock } from "../../../shared/clock.ts";
import { type Header, type Login, LoginError } from "./connection.ts";
import { createTokenReader } from "../../http_login.ts";

/** A cluster; paths are absolute, data are base64. */
export type KubeconfigCluster = Cluster;

/** A context. */
export type KubeconfigContext = Context;

/** A user; paths are absolute, data are base64, `exec` and `authProvider` raw. */
export type KubeconfigUser = User & {
  /** A file with a bearer token, which is read again every minute. */
  readonly tokenFile?: string;
  /** The user to act as, with UID, groups and extra fields. */
  readonly impersonation?: readonly Header[];
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
export function targetOf(
  config: Kubeconfig,
  contextName?: string,
): {
  readonly context: KubeconfigContext;
  readonly cluster: KubeconfigCluster;
  readonly user: KubeconfigUser | undefined;
} {
  const name = contextName ?? config.currentContext;
  if (config.contexts.length === 0) {
    throw new RangeError(
      "Cannot choose a context: the kubeconfig has none; give another one by --kubeconfig or KUBECONFIG",
    );
  }
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
    const whole = parse(text);
    if (whole !== null && (typeof whole !== "object" || Array.isArray(whole))) {
      throw new SyntaxError(
        `Cannot read kubeconfig ${path}: expected a mapping with clusters, contexts and users`,
      );
    }
    const content = objectOf(whole);
    const rawUsers = listOf(content.users);
    const users = newUsers(rawUsers).map((user, index): KubeconfigUser => ({
      ...user,
      ...present("tokenFile", textOf(objectOf(objectOf(rawUsers[index]).user).tokenFile)),
      impersonation: impersonationOf(objectOf(objectOf(rawUsers[index]).user)),
      ...(user.exec ? { exec: besideFile(objectOf(user.exec), directory) } : {}),
    }));
    return {
      currentContext: textOf(content["current-context"]),
      contexts: newContexts(listOf(content.contexts)),
      clusters: newClusters(listOf(content.clusters)).map((one) => absolute(one, ["caFile"])),
      users: users.map((one) => absolute(one, ["certFile", "keyFile", "tokenFile"])),
    };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (message.startsWith("Cannot ")) throw error;
    throw new SyntaxError(`Cannot read kubeconfig ${path}: ${message}`, { cause: error });
  }
}

/** The headers of a user that acts as another one (Kubernetes documentation, "User impersonation"). */
function impersonationOf(user: Readonly<Record<string, unknown>>): readonly Header[] {
  const texts = (value: unknown): readonly string[] =>
    listOf(value).flatMap((one) => textOf(one) ?? []);
  const extra = Object.entries(objectOf(user["as-user-extra"])).flatMap(([key, values]) =>
    texts(values).map((value): Header => [`impersonate-extra-${encodeURIComponent(key)}`, value])
  );
  return [
    ...texts([user.as]).map((name): Header => ["impersonate-user", name]),
    ...texts([user["as-uid"]]).map((uid): Header => ["impersonate-uid", uid]),
    ...texts(user["as-groups"]).map((group): Header => ["impersonate-group", group]),
    ...extra,
  ];
}

/** The plugin with its program beside the kubeconfig where it is named by a relative path. */
function besideFile(exec: Readonly<Record<string, unknown>>, directory: string): object {
  const command = textOf(exec.command) ?? "";
  return command.includes("/") ? { ...exec, command: resolve(directory, command) } : exec;
}

/** Returns the credentials of one request; `refresh` ignores cached ones. */
export type LoginSource = (options: { readonly refresh: boolean }) => Promise<Login>;

/** Options of a login. */
export interface KubeconfigLoginOptions {
  readonly clock: Clock;
}

/** The login of `user`. Throws a `TypeError` for an unsupported way to log in. */
export function createKubeconfigLogin(
  user: KubeconfigUser | undefined,
  { clock }: KubeconfigLoginOptions,
): LoginSource {
  if (user === undefined) return () => Promise.resolve({ headers: {} });
  const { impersonation = [] } = user;
  const authorization = authorizationOf(user, clock);
  return async (how) => {
    const { headers, certificate } = await authorization(how);
    const own = certificate ?? await certificateOf(user);
    return {
      headers,
      ...(impersonation.length === 0 ? {} : { repeated: impersonation }),
      ...(own === undefined ? {} : { certificate: own }),
    };
  };
}

function authorizationOf(user: KubeconfigUser, clock: Clock): LoginSource {
  const { token, tokenFile, username, password } = user;
  if (user.exec) return createExecPlugin(user.exec, { clock });
  if (user.authProvider) {
    throw new TypeError(
      `Cannot log in as user "${user.name}": auth-provider "${
        textOf(objectOf(user.authProvider).name)
      }" is not ` +
        "supported, use an exec plugin (kubectl oidc-login for OIDC) or a token",
    );
  }
  if (tokenFile) {
    const read = createTokenReader(tokenFile, { clock });
    return async (how) => ({ headers: { authorization: `Bearer ${await read(how)}` } });
  }
  if (token) return fixed({ authorization: `Bearer ${token.trim()}` });
  if (username) {
    const credentials = Buffer.from(`${username}:${password ?? ""}`).toString("base64");
    return fixed({ authorization: `Basic ${credentials}` });
  }
  return fixed({});
}

function fixed(headers: Record<string, string>): LoginSource {
  return () => Promise.resolve({ headers });
}

/** PEM of a certificate and its key, from the kubeconfig or from files. */
async function certificateOf(user: KubeconfigUser): Promise<Login["certificate"] | undefined> {
  const [cert, key] = await Promise.all([
    pemOf(user.certData, user.certFile),
    pemOf(user.keyData, user.keyFile),
  ]);
  return cert === undefined || key === undefined ? undefined : { cert, key };
}

/** PEM from base64 in the kubeconfig or from a file; undefined without either. */
export async function pemOf(
  base64: string | undefined,
  file: string | undefined,
): Promise<string | undefined> {
  if (base64) return Buffer.from(base64, "base64").toString("utf8");
  return file ? await Deno.readTextFile(file) : undefined;
}

/**
 * The login by a plugin: a program that a kubeconfig's `exec` entry names, as cloud providers have them
 * (Kubernetes documentation, "Authenticating", client-go credential plugins). It is run again when its
 * credentials have expired or, with `refresh`, were rejected. Throws a `TypeError` without a command;
 * the login throws an `Error` with the plugin's error output when it fails or returns no credentials.
 *
 * client-node passes the plugin no `KUBERNETES_EXEC_INFO`, and needs the right to read the whole
 * environment.
 */
export function createExecPlugin(exec: unknown, { clock }: KubeconfigLoginOptions): LoginSource {
  const { command, args, env, apiVersion, installHint } = objectOf(exec);
  const program = textOf(command);
  if (program === undefined) throw new TypeError("Cannot log in by plugin: exec.command is empty");
  const version = textOf(apiVersion) ?? "client.authentication.k8s.io/v1";
  const info = { kind: "ExecCredential", apiVersion: version, spec: { interactive: false } };
  const options: Deno.CommandOptions = {
    args: listOf(args).map(String),
    env: {
      KUBERNETES_EXEC_INFO: JSON.stringify(info),
      ...Object.fromEntries(
        listOf(env).map((one) => {
          const { name, value } = objectOf(one);
          return [String(name), String(value)];
        }),
      ),
    },
    stdin: "null",
  };
  let kept: { readonly login: Login; readonly expiresMs: number } | undefined;
  return async ({ refresh }) => {
    if (kept !== undefined && !refresh && clock.wall() < kept.expiresMs) return kept.login;
    const status = await runPlugin(program, { options, installHint: textOf(installHint) });
    const { token, clientCertificateData, clientKeyData, expirationTimestamp } = objectOf(status);
    const bearer = textOf(token);
    const cert = textOf(clientCertificateData);
    const key = textOf(clientKeyData);
    if (bearer === undefined && (cert === undefined || key === undefined)) {
      throw new LoginError(`Cannot log in: plugin "${program}" gave neither token nor certificate`);
    }
    const login: Login = {
      headers: bearer === undefined ? {} : { authorization: `Bearer ${bearer}` },
      ...(cert === undefined || key === undefined ? {} : { certificate: { cert, key } }),
    };
    const expiresMs = Date.parse(textOf(expirationTimestamp) ?? "");
    kept = { login, expiresMs: Number.isNaN(expiresMs) ? Infinity : expiresMs };
    return login;
  };
}

/** The `status` of the credentials that the plugin prints. */
async function runPlugin(
  program: string,
  { options, installHint }: {
    readonly options: Deno.CommandOptions;
    readonly installHint: string | undefined;
  },
): Promise<unknown> {
  let output: Deno.CommandOutput;
  try {
    output = await new Deno.Command(program, options).output();
  } catch (cause) {
    const remedy = installHint === undefined ? "" : `: ${installHint}`;
    throw new LoginError(`Cannot run the plugin "${program}"${remedy}`, { cause });
  }
  const text = new TextDecoder();
  if (!output.success) {
    const message = text.decode(output.stderr).trim();
    throw new LoginError(
      `Cannot log in: plugin "${program}" ended with ${output.code}: ${message}`,
    );
  }
  try {
    return objectOf(JSON.parse(text.decode(output.stdout))).status;
  } catch {
    // The output may hold a token: it is not repeated, not even as the cause.
    throw new LoginError(`Cannot log in: plugin "${program}" answered no JSON`);
  }
}
