/**
 * Connections of a program: as the pod's service account, or as a kubeconfig's user.
 *
 * In a cluster a program reads two files and no environment variables, and connects by name, so that it
 * needs network access to one host and port only, known when it is built.
 *
 * @module
 */
import { defined } from "../../../shared/defined.ts";
import { systemClock } from "../../system_clock.ts";
import { type JSONObject, listOf, objectOf, textOf } from "./json_fields.ts";
import type { OpenKubeConnection } from "./connection.ts";
import { createHTTPConnection } from "./http_connection.ts";
import type { RequestObserver } from "./observed_request.ts";
import { connectTo } from "./connection_pool.ts";
import { createTokenReader } from "../../http_login.ts";
import { dirname, resolve } from "node:path";
import { parse } from "yaml";

/** Address of the server, and the folder of the credentials. */
export interface InClusterOptions {
  /** The program, for the header `User-Agent`. */
  readonly program: string;
  /** @default {"https://kubernetes.default.svc"} */
  readonly server?: string;
  /**
   * With the files `token` and `ca.crt`.
   * @default {"/var/run/secrets/kubernetes.io/serviceaccount"}
   */
  readonly directory?: string;
  /** Observes requests. @default no observer */
  readonly observe?: RequestObserver;
}

/**
 * Connects as the pod's service account. Throws the error of reading the two files, which exist in a
 * pod only.
 */
export async function connectInCluster(
  options: InClusterOptions,
): Promise<OpenKubeConnection> {
  const {
    server = "https://kubernetes.default.svc",
    directory = "/var/run/secrets/kubernetes.io/serviceaccount",
  } = options;
  const readToken = createTokenReader(`${directory}/token`, { clock: systemClock });
  const openClient = async (): Promise<Deno.HttpClient> =>
    Deno.createHttpClient({ caCerts: [await Deno.readTextFile(`${directory}/ca.crt`)] });
  await readToken({ refresh: true });
  await Deno.stat(`${directory}/ca.crt`);
  return createHTTPConnection({
    server,
    program: options.program,
    openClient,
    ...defined({ observe: options.observe }),
    connect: connectTo(server),
    login: async (how) => ({ authorization: `Bearer ${await readToken(how)}` }),
  });
}

/** The kubeconfig, and the program that uses it. */
export interface KubeconfigOptions {
  /** The program, for the header `User-Agent`. */
  readonly program: string;
  /** @default {KUBECONFIG} */
  readonly path?: string;
  /** Observes requests. @default no observer */
  readonly observe?: RequestObserver;
}

/** Supported members of a user and a cluster. */
const SUPPORTED =
  /^(token|client-certificate.*|client-key.*|server|certificate-authority.*|extensions)$/;

/**
 * Connects as the current user of a kubeconfig with certificates or a token, as development clusters have.
 * Throws the error of reading a file, and a `TypeError` for another way to log in.
 */
export async function connectKubeconfig(
  { program, path = Deno.env.get("KUBECONFIG") ?? "", observe }: KubeconfigOptions,
): Promise<OpenKubeConnection> {
  const config = objectOf(parse(await Deno.readTextFile(path)));
  const entry = (list: string, name: unknown): JSONObject =>
    objectOf(
      listOf(config[list]).map(objectOf).find((one) => one.name === name)?.[
        list.slice(0, -1)
      ],
    );
  const pem = async (fields: JSONObject, name: string): Promise<string | undefined> => {
    const [data, file] = [textOf(fields[`${name}-data`]), textOf(fields[name])];
    if (data !== undefined) return atob(data);
    return file === undefined ? undefined : await Deno.readTextFile(resolve(dirname(path), file));
  };
  const context = entry("contexts", config["current-context"]);
  const [cluster, user] = [entry("clusters", context.cluster), entry("users", context.user)];
  const unsupported = [...Object.keys(user), ...Object.keys(cluster)]
    .find((name) => !SUPPORTED.test(name));
  if (unsupported !== undefined || textOf(cluster.server) === undefined) {
    throw new TypeError(
      `Cannot connect by kubeconfig ${path}: its current context has ` +
        `${unsupported ?? "no server"}; give one with a token or a client certificate`,
    );
  }
  const [ca, cert, key, token] = [
    await pem(cluster, "certificate-authority"),
    await pem(user, "client-certificate"),
    await pem(user, "client-key"),
    textOf(user.token),
  ];
  return createHTTPConnection({
    server: String(cluster.server).replace(/\/$/, ""),
    program,
    ...defined({ observe }),
    login: () => Promise.resolve(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    openClient: () =>
      Promise.resolve(Deno.createHttpClient({
        ...(ca === undefined ? {} : { caCerts: [ca] }),
        ...(cert === undefined || key === undefined ? {} : { cert, key }),
      })),
  });
}
