/**
 * The connection of `kubectl coalloc`: client-node connects by logins, proxies and TLS as the kubeconfig
 * has them. Agents and controllers have `http_connection.ts`: the package takes 150 MB (see
 * docs/decisions).
 *
 * @module
 */
import http from "node:http";
import https from "node:https";
import { text } from "node:stream/consumers";
import type { KubeConfig } from "./client_node.d.ts";
import { ApiError } from "../../../shared/api/api_error.ts";
import { createRequestTimeout } from "../../bounded_fetch.ts";
import type { KubeConnection, KubeRequest } from "./connection.ts";
import { loginFailed } from "./credential_plugin.ts";
import { addressOf } from "./http_connection.ts";
import { podHTTPGet, type PodHTTPRequest, type PodPort } from "./port_forward.ts";
import { openTunnel, type Tunnel } from "./port_tunnel.ts";
import { type FailedResponse, noResponseError, responseError } from "./response_errors.ts";
import { readUser, type UserOptions } from "./user_kubeconfig.ts";

/** Requests with the rights of a user, and the namespace of the context. */
export interface UserConnection extends KubeConnection {
  readonly namespace: string;
  /** The response of a pod's port to a GET, as through `kubectl port-forward`. */
  podGet(request: PodHTTPRequest): Promise<unknown>;
  /** A local port that leads to the pod which `target` chooses for each connection. */
  tunnel(target: () => Promise<PodPort>): Promise<Tunnel>;
  /** The user's bearer token; undefined for another login, and for an impersonated user. */
  bearerToken(): Promise<string | undefined>;
  close(): void;
}

interface UserResponse extends FailedResponse {
  readonly headers: Headers;
}

const REQUEST_TIMEOUT_MS = 30_000;

/**
 * Connects as a kubeconfig's user. Throws a `TypeError` for a file that can't be read or is no
 * kubeconfig, a `RangeError` for a missing context, cluster or user, and a `SyntaxError` for one that
 * can't be used.
 */
export function connectUser(options: UserOptions): UserConnection {
  let user = readUser(options);
  let login: Promise<https.RequestOptions> = Promise.resolve({});

  function logIn(): Promise<https.RequestOptions> {
    login = loginOptions(user.config);
    return login;
  }

  async function send(request: KubeRequest, signal: AbortSignal): Promise<UserResponse> {
    const { method = "GET", contentType = "application/json", body, auditID } = request;
    const { headers, ...connection } = await logIn();
    return await exchange(addressOf(user.server, request), {
      ...connection,
      method,
      signal,
      body: body === undefined ? "" : JSON.stringify(body),
      headers: {
        ...headers,
        accept: "application/json",
        ...(auditID === undefined ? {} : { "audit-id": auditID }),
        ...(body === undefined ? {} : { "content-type": contentType }),
      },
    });
  }

  const connection: KubeConnection = {
    async request(request) {
      const timeout = createRequestTimeout(request.signal);
      try {
        await logIn();
        request.signal?.throwIfAborted();
        timeout.start(request.timeoutMs ?? REQUEST_TIMEOUT_MS);
        const used = user;
        let response = await send(request, timeout.signal);
        if (response.status === 401) {
          // Plugins and files may have a new token by now.
          if (user === used) {
            close();
            user = readUser(options);
          }
          response = await send(request, timeout.signal);
        }
        if (response.status >= 300) throw responseError(response, Date.now());
        if (request.parse !== undefined) return request.parse(response.text, response.headers);
        return response.text === "" ? undefined : JSON.parse(response.text);
      } catch (error) {
        throw error instanceof ApiError ? error : noResponseError(error, { request, timeout });
      } finally {
        timeout.end();
      }
    },
    lines: () => {
      throw new TypeError("Cannot watch: the command reads lists");
    },
  };

  function close(): void {
    void login.then(({ agent }) => agent && typeof agent === "object" && agent.destroy(), () => {});
  }

  return {
    ...connection,
    namespace: user.namespace,
    podGet: (request) => podHTTPGet(request, { ...user, connection, program: options.program }),
    tunnel: (target) => openTunnel({ config: () => user.config, target }),
    async bearerToken() {
      const { Authorization, "Impersonate-User": other } = headersOf(await logIn());
      return other === undefined ? /^Bearer (\S+)$/.exec(String(Authorization))?.[1] : undefined;
    },
    close,
  };
}

function headersOf({ headers }: https.RequestOptions): http.OutgoingHttpHeaders {
  return headers as http.OutgoingHttpHeaders;
}

/** Headers, certificates and the agent of the next request. Throws an `ApiError` where a plugin fails. */
async function loginOptions(config: KubeConfig): Promise<https.RequestOptions> {
  const options: https.RequestOptions = {};
  try {
    await config.applyToHTTPSOptions(options);
  } catch (error) {
    if (error instanceof ApiError) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw loginFailed(config.getCurrentUser()?.name, why);
  }
  // client-node keeps an agent for each cluster and user, but closes its connection after each request.
  if (typeof options.agent === "object") Object.assign(options.agent, { keepAlive: true });
  return options;
}

/** Sends a request; resolves with the whole response, whatever its status. */
function exchange(
  url: string,
  { body, signal, ...options }: https.RequestOptions & {
    readonly body: string;
    readonly signal: AbortSignal;
  },
): Promise<UserResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<UserResponse>();
  const { request } = url.startsWith("https:") ? https : http;
  const sent = request(url, options, (response) => {
    const { statusCode: status = 0 } = response;
    const headers = new Headers(
      Object.entries(response.headers).map(([name, value]) => [name, String(value)]),
    );
    const retryAfter = headers.get("retry-after");
    text(response).then((text) => resolve({ status, text, retryAfter, headers }), reject);
  });
  sent.on("error", reject);
  // Deno 2.9 ignores the option of this name.
  signal.addEventListener("abort", () => {
    sent.destroy();
    reject(signal.reason);
  });
  sent.end(body);
  return promise;
}
