/**
 * Connections of a program: as the pod's service account, or as a kubeconfig's user.
 *
 * In a cluster it reads two files and no environment variables, and connects by name, so that the
 * program needs network access to one host and port only, known when it is built.
 *
 * @module
 */
import type { Clock } from "../../../shared/clock.ts";
import { defined } from "../../../shared/defined.ts";
import { systemClock } from "../../system_clock.ts";
import type { Login, OpenKubeConnection } from "./connection.ts";
import { createHTTPConnection } from "./http_connection.ts";
import type { RequestObserver } from "./observed_request.ts";
import { connectTo, portOf } from "./connection_pool.ts";
import { createTokenReader } from "../../http_login.ts";
import { join } from "node:path";
import {
  createKubeconfigLogin,
  type Kubeconfig,
  parseKubeconfig,
  pemOf,
  targetOf,
} from "./kubeconfig.ts";

/** Address of the server, and the folder of the credentials. */
export interface InClusterOptions {
  /** The program, for the header `User-Agent`. @default {"client"} */
  readonly program?: string;
  /** @default {"https://kubernetes.default.svc"} */
  readonly server?: string;
  /**
   * With the files `token` and `ca.crt`.
   * @default {"/var/run/secrets/kubernetes.io/serviceaccount"}
   */
  readonly directory?: string;
  /** @default {systemClock} */
  readonly clock?: Clock;
  /** Observes requests. @default no observer */
  readonly observe?: RequestObserver;
}

/**
 * Connects as the pod's service account. Throws the error of reading the two files, which exist in a
 * pod only.
 */
export async function connectInCluster(
  options: InClusterOptions = {},
): Promise<OpenKubeConnection> {
  const {
    server = "https://kubernetes.default.svc",
    directory = "/var/run/secrets/kubernetes.io/serviceaccount",
    clock = systemClock,
    program = "client",
  } = options;
  const readToken = createTokenReader(`${directory}/token`, { clock });
  const openClient = async (): Promise<Deno.HttpClient> =>
    Deno.createHttpClient({ caCerts: [await Deno.readTextFile(`${directory}/ca.crt`)] });
  await readToken({ refresh: true });
  await Deno.stat(`${directory}/ca.crt`);
  return createHTTPConnection({
    server,
    program,
    clock,
    openClient,
    ...defined({ observe: options.observe }),
    connect: connectTo(server),
    login: async (how) => ({ headers: { authorization: `Bearer ${await readToken(how)}` } }),
  });
}

/** Path of the kubeconfig, and context. */
export interface KubeconfigOptions {
  /** The program, for the header `User-Agent`. @default {"client"} */
  readonly program?: string;
  /** Default: the files in `KUBECONFIG`, and `~/.kube/config` without it. */
  readonly path?: string;
  /** Default: `current-context`. */
  readonly context?: string;
  /**
   * Reads an environment variable: `KUBECONFIG` and `HOME`, without a `path`.
   * @default {Deno.env.get}
   */
  readonly env?: (name: string) => string | undefined;
  /** @default {systemClock} */
  readonly clock?: Clock;
  /** Observes requests. @default no observer */
  readonly observe?: RequestObserver;
}

/** A connection, and the namespace of its context. */
export type KubeconfigConnection = OpenKubeConnection & {
  readonly namespace: string;
  /** The user's bearer token; undefined for a user with another login, or that acts as another user. */
  bearerToken(): Promise<string | undefined>;
};

/**
 * Connects as a kubeconfig's user. Throws the error of reading a file, a `SyntaxError` for a file that is
 * no kubeconfig, a `RangeError` for a missing context and a `TypeError` for an unsupported entry.
 */
export async function connectKubeconfig(
  options: KubeconfigOptions = {},
): Promise<KubeconfigConnection> {
  const { clock = systemClock, program = "client" } = options;
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
      // TLS uses the name, the connection the address.
      ...(cluster.tlsServerName ? { proxy: { transport: "tcp", ...address } as const } : {}),
      ...(cluster.proxyUrl ? { proxy: { url: cluster.proxyUrl } } : {}),
    }));
  const login = createKubeconfigLogin(user, { clock });
  const connection = createHTTPConnection({
    server: server.href.replace(/\/$/, ""),
    program,
    login,
    openClient,
    clock,
    ...defined({ observe: options.observe }),
  });
  return {
    ...connection,
    namespace: context.namespace ?? "default",
    async bearerToken() {
      const { headers: { authorization = "" }, repeated } = await login({ refresh: false });
      return repeated === undefined ? /^Bearer (\S+)$/.exec(authorization)?.[1] : undefined;
    },
  };
}

/** Reads the files that kubectl reads: `KUBECONFIG` may name several, of which some may be missing. */
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
