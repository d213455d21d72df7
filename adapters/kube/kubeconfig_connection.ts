/**
 * The connection of a program outside of the cluster, as kubectl has it.
 *
 * @module
 */
import { join } from "node:path";
import type { Clock } from "../../shared/clock.ts";
import { systemClock } from "../system_clock.ts";
import type { OpenKubeConnection } from "./connection.ts";
import { createHTTPConnection } from "./http_connection.ts";
import { type Kubeconfig, parseKubeconfig, targetOf } from "./kubeconfig.ts";
import { createKubeconfigLogin, pemOf } from "./kubeconfig_login.ts";
import type { Login } from "./login.ts";

/** Where the kubeconfig is and which context counts. */
export interface KubeconfigOptions {
  /** Default: the files in `KUBECONFIG`, and `~/.kube/config` without it. */
  readonly path?: string;
  /** Default: `current-context`. */
  readonly context?: string;
  /**
   * Reads a variable of the environment; asked for `KUBECONFIG` and `HOME` without a `path`.
   *
   * @default {Deno.env.get}
   */
  readonly env?: (name: string) => string | undefined;
  /** @default {systemClock} */
  readonly clock?: Clock;
}

/** A connection, and what its context says beside it. */
export type KubeconfigConnection = OpenKubeConnection & {
  /** The context's namespace. */
  readonly namespace: string;
};

/**
 * A connection with the rights of a kubeconfig's user. Throws what reading the files throws, a
 * `SyntaxError` for a file that is none, a `RangeError` for a context that is not there and a
 * `TypeError` for what is not supported.
 */
export async function connectKubeconfig(
  options: KubeconfigOptions = {},
): Promise<KubeconfigConnection> {
  const { clock = systemClock } = options;
  const config = await readKubeconfig(options);
  const { cluster, context, user } = targetOf(config, options.context);
  const ca = await pemOf(cluster.caData, cluster.caFile);
  if (cluster.skipTLSVerify) {
    throw new TypeError(
      `Cannot connect to cluster "${cluster.name}": insecure-skip-tls-verify is not supported, ` +
        "give its certificate-authority",
    );
  }
  const server = new URL(cluster.server);
  const address = { hostname: server.hostname, port: portOf(server) };
  if (cluster.tlsServerName) server.hostname = cluster.tlsServerName;
  const openClient = ({ certificate }: Login): Promise<Deno.HttpClient> =>
    Promise.resolve(Deno.createHttpClient({
      ...(ca === undefined ? {} : { caCerts: [ca] }),
      ...(certificate ?? {}),
      // The name goes into the handshake, the bytes go to the address.
      ...(cluster.tlsServerName ? { proxy: { transport: "tcp", ...address } as const } : {}),
      ...(cluster.proxyUrl ? { proxy: { url: cluster.proxyUrl } } : {}),
    }));
  const connection = createHTTPConnection({
    server: server.href.replace(/\/$/, ""),
    login: createKubeconfigLogin(user, { clock }),
    openClient,
    clock,
  });
  return { ...connection, namespace: context.namespace ?? "default" };
}

function portOf({ port, protocol }: URL): number {
  if (port !== "") return Number(port);
  return protocol === "https:" ? 443 : 80;
}

/** The files that kubectl would read: `KUBECONFIG` may name several, of which some may be missing. */
async function readKubeconfig(options: KubeconfigOptions): Promise<Kubeconfig> {
  const { path, env = (name) => Deno.env.get(name) } = options;
  const listed = path === undefined ? env("KUBECONFIG") : undefined;
  const paths = listed
    ? listed.split(Deno.build.os === "windows" ? ";" : ":").filter((one) => one !== "")
    : [path ?? join(env("HOME") ?? "", ".kube", "config")];
  const files = await Promise.all(paths.map(async (one) => {
    try {
      return [{ path: one, text: await Deno.readTextFile(one) }];
    } catch (error) {
      if (error instanceof Deno.errors.NotFound && paths.length > 1) return [];
      throw error;
    }
  }));
  return parseKubeconfig(files.flat());
}
