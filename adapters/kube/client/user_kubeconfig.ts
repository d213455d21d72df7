/**
 * The user and the cluster of a context, as client-node's `KubeConfig`.
 *
 * Adds what client-node 2.0.1 lacks: kubeconfigs of several files, of which some are missing or repeat a
 * name, `tokenFile`, groups, UID and extra fields of an impersonation, plugins with a relative path or a
 * user to ask, and proxies in the environment.
 *
 * @module
 */
import type { OutgoingHttpHeaders } from "node:http";
import { delimiter, dirname, join, resolve } from "node:path";
// @ts-types="./client_node.d.ts"
import { KubeConfig } from "@kubernetes/client-node";
import { parse, YAMLParseError } from "yaml";
import { defined } from "../../../shared/defined.ts";
import { isMembers } from "../../../shared/members.ts";
import { userAgent } from "../../../shared/version.ts";
import type { Impersonation } from "./connection.ts";
import { pluginLogin } from "./credential_plugin.ts";
import { environmentProxy } from "./environment_proxy.ts";
import { type JSONObject, listOf, objectOf, textOf } from "./json_fields.ts";

/** The kubeconfig, and the program that uses it. */
export interface UserOptions {
  /** The program, for the header `User-Agent`. */
  readonly program: string;
  /** Default: the files in `KUBECONFIG`, and `~/.kube/config` without it. */
  readonly path?: string;
  /** Default: `current-context`. */
  readonly context?: string;
  readonly impersonation?: Impersonation;
  /**
   * Reads an environment variable: `KUBECONFIG` and `HOME` without a `path`, and a proxy's for a cluster
   * without `proxy-url`.
   */
  readonly env: (name: string) => string | undefined;
  /** Whether a plugin may ask the user. @default {Deno.stdin.isTerminal()} */
  readonly inIsTerminal?: boolean;
}

/** Server, namespace and user of a context. */
export interface ReadUser {
  /** Has one cluster and one user; adds the headers to each request. */
  readonly config: KubeConfig;
  readonly server: string;
  readonly namespace: string;
}

/** The names of all contexts. Throws as `connectUser()` for files that can't be read. */
export function contextNames(options: Pick<UserOptions, "path" | "env">): readonly string[] {
  return readFiles(options).files.flatMap((file) =>
    listOf(file.contexts).flatMap((one) => textOf(objectOf(one).name) ?? [])
  );
}

/** Reads the files. Throws as `connectUser()`. */
export function readUser(options: UserOptions): ReadUser {
  const { inIsTerminal = Deno.stdin.isTerminal() } = options;
  const { name, context, cluster, user } = targetOf(readFiles(options), options.context);
  const { exec, ...login } = user;
  const server = textOf(cluster.server);
  const tokenFile = textOf(user.tokenFile);
  const proxy = textOf(cluster["proxy-url"]) ?? environmentProxy(server ?? "", options.env);
  const config = new KubeConfig();
  try {
    config.loadFromString(JSON.stringify({
      "current-context": name,
      contexts: [{ name, context }],
      clusters: [{
        name: context.cluster,
        cluster: {
          ...cluster,
          ...defined({ "proxy-url": proxy }),
          // Without TLS there is nothing to verify; client-node refuses it otherwise.
          ...(server?.startsWith("http:") ? { [INSECURE]: true } : {}),
        },
      }],
      users: [{
        name: context.user,
        user: {
          ...login,
          ...(tokenFile === undefined ? {} : { token: Deno.readTextFileSync(tokenFile).trim() }),
        },
      }],
    }));
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : cause;
    throw new SyntaxError(`Cannot use context "${name}": ${why}`, { cause });
  }
  if (exec) config.addAuthenticator(pluginLogin({ exec: objectOf(exec), cluster, inIsTerminal }));
  const headers = {
    "User-Agent": userAgent(options.program),
    ...impersonationHeaders(user, options.impersonation),
  };
  const apply = config.applyToHTTPSOptions.bind(config);
  config.applyToHTTPSOptions = async (request) => {
    await apply(request);
    Object.assign(request, { headers: { ...request.headers, ...headers } });
  };
  return {
    config,
    server: (server ?? "").replace(/\/$/, ""),
    namespace: textOf(context.namespace) ?? "default",
  };
}

const INSECURE = "insecure-skip-tls-verify";

interface ReadFiles {
  readonly paths: string;
  readonly files: readonly JSONObject[];
}

/** The files that kubectl reads: `KUBECONFIG` may name several, of which some may be missing. */
function readFiles({ path, env }: Pick<UserOptions, "path" | "env">): ReadFiles {
  const listed = env("KUBECONFIG") || join(env("HOME") ?? "", ".kube", "config");
  const paths = path === undefined ? listed.split(delimiter).filter((one) => one !== "") : [path];
  const files = paths.map(readFile).filter((one) => one !== undefined);
  if (files.length === 0) throw unreadable(paths.join(delimiter), "it is not there");
  return { paths: paths.join(delimiter), files };
}

const REMEDY = "give --kubeconfig or set KUBECONFIG";

function unreadable(path: string, state: string): TypeError {
  return new TypeError(`Cannot read the kubeconfig ${path}: ${state}; ${REMEDY}`);
}

/** Members that are paths, relative to the file. */
const PATHS = ["certificate-authority", "client-certificate", "client-key", "tokenFile"];

/** Reads a file, with absolute paths; undefined where it is missing. An empty file is an empty kubeconfig. */
function readFile(path: string): JSONObject | undefined {
  const content = parsedFile(path);
  if (content === undefined || isMembers(content)) return content;
  if (content === null) return {};
  throw unreadable(path, "it is not a kubeconfig, which is an object in YAML or JSON");
}

function parsedFile(path: string): unknown {
  try {
    return parse(Deno.readTextFileSync(path), (key, value) => {
      const isPath = typeof value === "string" && value !== "" &&
        // A plugin without a folder is found by PATH.
        (PATHS.includes(String(key)) || key === "command" && value.includes("/"));
      return isPath ? resolve(dirname(path), value) : value;
    });
  } catch (cause) {
    if (cause instanceof Deno.errors.NotFound) return undefined;
    const message = cause instanceof Error ? cause.message : String(cause);
    const isYAML = cause instanceof YAMLParseError;
    const state = isYAML ? `it is no YAML: ${message.split(":\n")[0]}` : message;
    throw unreadable(path, state.replace(/: readfile '.*'$/s, ""));
  }
}

interface Target {
  readonly name: string;
  readonly context: JSONObject;
  readonly cluster: JSONObject;
  readonly user: JSONObject;
}

/** The target of a context, by default the current one; of entries with the same name the first counts. */
function targetOf({ paths, files }: ReadFiles, wanted: string | undefined): Target {
  const entries = (what: "context" | "cluster" | "user"): ReadonlyMap<unknown, JSONObject> =>
    new Map(
      files.flatMap((file) => listOf(file[`${what}s`]).map(objectOf)).toReversed()
        .map((one) => [one.name, objectOf(one[what])]),
    );
  const namesOf = (all: ReadonlyMap<unknown, unknown>): string =>
    [...all.keys()].reverse().map((name) => `"${name}"`).join(", ") || "none";
  const contexts = entries("context");
  const name = wanted ?? files.flatMap((file) => textOf(file["current-context"]) ?? [])[0];
  if (contexts.size === 0) {
    throw new RangeError(`Cannot choose a context: the kubeconfig ${paths} has none; ${REMEDY}`);
  }
  if (name === undefined) {
    throw new RangeError(
      "Cannot choose a context: the kubeconfig has no current-context, name one of " +
        namesOf(contexts),
    );
  }
  const context = contexts.get(name);
  if (context === undefined) {
    throw new RangeError(`Cannot use context "${name}": the kubeconfig has ${namesOf(contexts)}`);
  }
  const found = (what: "cluster" | "user"): JSONObject => {
    const all = entries(what);
    const entry = all.get(context[what]);
    if (entry !== undefined) return entry;
    throw new RangeError(
      `Cannot use context "${name}": its ${what} "${context[what]}" is not among ${namesOf(all)}`,
    );
  };
  const user = textOf(context.user);
  return {
    name,
    // client-node leaves out the cluster's authority where there is no user.
    context: { ...context, user: user ?? "anonymous" },
    cluster: found("cluster"),
    user: user === undefined ? {} : found("user"),
  };
}

/** Headers as in the Kubernetes documentation, "User impersonation". */
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
