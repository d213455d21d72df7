/**
 * The user and the cluster of a context, as client-node's `KubeConfig`.
 *
 * Done here, since client-node 2.0.1 does not: kubeconfigs of several files of which some are missing
 * or repeat a name, `tokenFile`, groups, UID and extra fields of an impersonation, plugins with a
 * relative path, and what plugins learn of the cluster.
 *
 * @module
 */
import type { OutgoingHttpHeaders } from "node:http";
import { delimiter, dirname, join, resolve } from "node:path";
// @ts-types="./client_node.d.ts"
import {
  bufferFromFileOrString,
  type Cluster,
  type Context,
  KubeConfig,
  type User,
} from "@kubernetes/client-node";
import { parse } from "yaml";
import { defined } from "../../../shared/defined.ts";
import { VERSION } from "../../../shared/version.ts";
import type { Impersonation } from "./connection.ts";
import { type JSONObject, listOf, objectOf, textOf } from "./json_fields.ts";

/** Which kubeconfig, and who uses it. */
export interface UserOptions {
  /** The program, for the header `User-Agent`. */
  readonly program: string;
  /** Default: the files in `KUBECONFIG`, and `~/.kube/config` without it. */
  readonly path?: string;
  /** Default: `current-context`. */
  readonly context?: string;
  readonly impersonation?: Impersonation;
  /** Reads an environment variable: `KUBECONFIG` and `HOME`, without a `path`. */
  readonly env: (name: string) => string | undefined;
}

/** What a context leads to. */
export interface ReadUser {
  /** With one cluster and one user; sets the headers of each request. */
  readonly config: KubeConfig;
  readonly server: string;
  readonly namespace: string;
}

interface File {
  readonly config: KubeConfig;
  readonly directory: string;
  readonly raw: JSONObject;
}

/** Reads the files. Throws as `connectUser()`. */
export function readUser(options: UserOptions): ReadUser {
  const files = readFiles(options);
  const { context, cluster, user } = targetOf(files, options.context);
  const raw = (list: string, name: string): Entry => rawEntry(files, { list, name });
  const entry = raw("users", user?.name ?? "");

  const tokenFile = textOf(entry.fields.tokenFile);
  const headers = {
    "User-Agent": `coallocator-${options.program}/${VERSION}`,
    ...impersonationHeaders(entry.fields, options.impersonation),
  };
  const config = new KubeConfig();
  config.loadFromClusterAndUser(
    // Without TLS there is nothing to verify; client-node refuses it otherwise.
    { ...cluster, skipTLSVerify: cluster.skipTLSVerify || cluster.server.startsWith("http:") },
    {
      ...(user ?? { name: "" }),
      ...(tokenFile === undefined
        ? {}
        : { token: Deno.readTextFileSync(resolve(entry.directory, tokenFile)).trim() }),
      ...(user?.exec
        ? {
          exec: pluginOf(objectOf(user.exec), {
            entry,
            cluster,
            raw: raw("clusters", cluster.name),
          }),
        }
        : {}),
    },
  );
  const apply = config.applyToHTTPSOptions.bind(config);
  config.applyToHTTPSOptions = async (request) => {
    await apply(request);
    Object.assign(request, { headers: { ...request.headers, ...headers } });
  };
  return { config, server: cluster.server, namespace: context.namespace ?? "default" };
}

/** The files that kubectl reads: `KUBECONFIG` may name several, of which some may be missing. */
function readFiles({ path, env }: UserOptions): readonly File[] {
  const listed = env("KUBECONFIG") || join(env("HOME") ?? "", ".kube", "config");
  const paths = path === undefined ? listed.split(delimiter).filter((one) => one !== "") : [path];
  const files = paths.flatMap((one) => readFile(one) ?? []);
  if (files.length === 0) throw unreadable(paths.join(delimiter), "it is not there");
  return files;
}

function unreadable(path: string, state: string): TypeError {
  return new TypeError(
    `Cannot read the kubeconfig ${path}: ${state}; give --kubeconfig or set KUBECONFIG`,
  );
}

/** Undefined where there is no such file. */
function readFile(path: string): File | undefined {
  let text: string;
  try {
    text = Deno.readTextFileSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw unreadable(path, String(error).replace(/^\w+: |: readfile '.*'$/gs, ""));
  }
  try {
    const raw = objectOf(parse(text));
    const config = new KubeConfig();
    config.loadFromString(JSON.stringify(raw));
    const directory = dirname(path);
    config.makePathsAbsolute(directory);
    return { config, directory, raw };
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new SyntaxError(`Cannot read kubeconfig ${path}: ${message}`, { cause });
  }
}

type Target = {
  readonly context: Context;
  readonly cluster: Cluster;
  readonly user: User | undefined;
};

/** The target of a context, by default the current one. Of two entries of one name the first counts. */
function targetOf(files: readonly File[], wanted: string | undefined): Target {
  const configs = files.map(({ config }) => config);
  const contexts = configs.flatMap((one) => one.contexts);
  const name = wanted ?? configs.map((one) => one.currentContext).find(Boolean);
  if (contexts.length === 0) {
    throw new RangeError(
      "Cannot choose a context: the kubeconfig has none; give another one by --kubeconfig or KUBECONFIG",
    );
  }
  if (name === undefined) {
    throw new RangeError(
      "Cannot choose a context: the kubeconfig has no current-context, name one of " +
        namesOf(contexts),
    );
  }
  const context = contexts.find((one) => one.name === name);
  if (context === undefined) {
    throw new RangeError(`Cannot use context "${name}": the kubeconfig has ${namesOf(contexts)}`);
  }
  const found = <T extends Cluster | User>(what: "cluster" | "user", all: readonly T[]): T => {
    const entry = all.find((one) => one.name === context[what]);
    if (entry !== undefined) return entry;
    throw new RangeError(
      `Cannot use context "${name}": its ${what} "${context[what]}" is not among ${namesOf(all)}`,
    );
  };
  return {
    context,
    cluster: found("cluster", configs.flatMap((one) => one.clusters)),
    user: context.user ? found("user", configs.flatMap((one) => one.users)) : undefined,
  };
}

function namesOf(entries: readonly { readonly name: string }[]): string {
  return entries.length === 0 ? "none" : entries.map(({ name }) => `"${name}"`).join(", ");
}

interface Entry {
  readonly fields: JSONObject;
  readonly directory: string;
}

/** The first entry of the name in `users` or `clusters`, as its file has it. */
function rawEntry(
  files: readonly File[],
  { list, name }: { readonly list: string; readonly name: string },
): Entry {
  const entries = files.flatMap(({ raw, directory }) =>
    listOf(raw[list]).map(objectOf).map((one) => ({ one, directory }))
  );
  const { one, directory } = entries.find((entry) => entry.one.name === name) ??
    { one: {}, directory: "" };
  return { fields: objectOf(objectOf(one)[list.slice(0, -1)]), directory };
}

/** Kubernetes documentation, "User impersonation". */
function impersonationHeaders(
  raw: JSONObject,
  { user = textOf(raw.as), uid = textOf(raw["as-uid"]), groups }: Impersonation = {},
): OutgoingHttpHeaders {
  const texts = (value: unknown): string[] => listOf(value).flatMap((one) => textOf(one) ?? []);
  const all = groups === undefined ? texts(raw["as-groups"]) : [...groups];
  const extra = Object.entries(objectOf(raw["as-user-extra"])).map(([key, values]) =>
    [`Impersonate-Extra-${encodeURIComponent(key)}`, texts(values)] as const
  );
  if (user === undefined) {
    if (uid === undefined && all.length === 0 && extra.length === 0) return {};
    throw new TypeError(
      "Cannot impersonate: groups, a UID or extra fields need a user; add --as USER",
    );
  }
  return {
    "Impersonate-User": user,
    ...defined({ "Impersonate-Uid": uid }),
    ...(all.length === 0 ? {} : { "Impersonate-Group": all }),
    ...Object.fromEntries(extra),
  };
}

/** The plugin with its program beside the file, and with `KUBERNETES_EXEC_INFO` (client-go plugins). */
function pluginOf(
  exec: JSONObject,
  { entry, cluster, raw }: {
    readonly entry: Entry;
    readonly cluster: Cluster;
    readonly raw: Entry;
  },
): JSONObject {
  const command = textOf(exec.command) ?? "";
  const { "certificate-authority": _file, extensions, ...fields } = raw.fields;
  const extension = listOf(extensions).map(objectOf)
    .find(({ name }) => name === "client.authentication.k8s.io/exec")?.extension;
  const spec = {
    interactive: false,
    ...(exec.provideClusterInfo !== true ? {} : {
      cluster: defined({
        ...fields,
        "certificate-authority-data": bufferFromFileOrString(cluster.caFile, cluster.caData)
          ?.toBase64(),
        config: extension,
      }),
    }),
  };
  const value = JSON.stringify({ kind: "ExecCredential", apiVersion: exec.apiVersion, spec });
  return {
    ...exec,
    command: command.includes("/") ? resolve(entry.directory, command) : command,
    env: [...listOf(exec.env), { name: "KUBERNETES_EXEC_INFO", value }],
  };
}
