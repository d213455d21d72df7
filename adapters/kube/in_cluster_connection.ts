/**
 * The connection of a program that runs as a pod, with the rights of its service account.
 *
 * It reads two files and no environment variables, and connects by name: so the program gets along
 * with the right to reach one host and port, known when it is built.
 *
 * @module
 */
import type { Clock } from "../../shared/clock.ts";
import { systemClock } from "../system_clock.ts";
import type { OpenKubeConnection } from "./connection.ts";
import { createHTTPConnection } from "./http_connection.ts";
import { connectTo } from "./reachability.ts";
import { createTokenReader } from "./token_file.ts";

/** Where a pod finds the server and its own identity. */
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
 * A connection as the pod's service account. Throws what reading the two files throws: outside of a
 * pod they are not there.
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
