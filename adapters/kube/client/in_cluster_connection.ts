/**
 * The connection of a program that runs as a pod, with the rights of its service account.
 *
 * It reads two files and no environment variables, and connects by name, so that the program needs
 * network access to one host and port only, known when it is built.
 *
 * @module
 */
import type { Clock } from "../../../shared/clock.ts";
import { systemClock } from "../../system_clock.ts";
import type { OpenKubeConnection } from "./connection.ts";
import { createHTTPConnection } from "./http_connection.ts";
import { connectTo } from "./connection_pool.ts";
import { createTokenReader } from "../../http_login.ts";

/** Address of the server, and the folder of the credentials. */
export interface InClusterOptions {
  /** @default {"https://kubernetes.default.svc"} */
  readonly server?: string;
  /**
   * With the files `token` and `ca.crt`.
   *
   * @default {"/var/run/secrets/kubernetes.io/serviceaccount"}
   */
  readonly directory?: string;
  /** @default {systemClock} */
  readonly clock?: Clock;
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
  } = options;
  const readToken = createTokenReader(`${directory}/token`, { clock });
  const openClient = async (): Promise<Deno.HttpClient> =>
    Deno.createHttpClient({ caCerts: [await Deno.readTextFile(`${directory}/ca.crt`)] });
  await readToken({ refresh: true });
  await Deno.stat(`${directory}/ca.crt`);
  return createHTTPConnection({
    server,
    clock,
    openClient,
    connect: connectTo(server),
    login: async (how) => ({ headers: { authorization: `Bearer ${await readToken(how)}` } }),
  });
}
