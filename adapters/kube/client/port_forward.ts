/**
 * A port of a pod through the API server and the kubelet, with the user's rights
 * (`pods/portforward`), as through `kubectl port-forward`: as a stream, or for one GET.
 *
 * @module
 */
import http from "node:http";
import { type Duplex, duplexPair, PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
// @ts-types="./client_node.d.ts"
import { type KubeConfig, PortForward } from "@kubernetes/client-node";
import { ApiError } from "../../../shared/api/api_error.ts";
import { userAgent } from "../../../shared/version.ts";
import { type KubeConnection, resourcePath } from "./connection.ts";
import { type FailedResponse, responseError } from "./response_errors.ts";

/** A pod's port. */
export interface PodPort {
  readonly namespace: string;
  readonly pod: string;
  readonly port: number;
}

/** A stream to connect with the port. */
export interface ForwardedStream extends PodPort {
  /** Ends when the pod's side ends. */
  readonly stream: Duplex;
  /** Takes the kubelet's message where it can't connect. */
  readonly onProblem: (message: string) => void;
}

/** Connects the stream with the port. Resolves with a function that ends the connection at once. */
export async function forwardPort(
  config: KubeConfig,
  { namespace, pod, port, stream, onProblem }: ForwardedStream,
): Promise<() => void> {
  const problems = new PassThrough();
  problems.on("data", (problem) => problem.length > 0 && onProblem(String(problem)));
  const socket = await new PortForward(config)
    .portForward(namespace, pod, [port], stream, problems, stream);
  socket.onclose = () => stream.end();
  // Closing waits for the server, half a minute where it is gone.
  return () => socket.terminate();
}

/** A request to a pod. */
export interface PodHTTPRequest extends PodPort {
  /** For instance `/view`. */
  readonly path: string;
  /** Timeout, ms. */
  readonly timeoutMs: number;
  /** Reads the body. @default {JSON.parse} */
  readonly parse?: (text: string) => unknown;
  /** Ends the request with an error. */
  readonly signal?: AbortSignal;
}

/** The user, and a way to repeat a refused request. */
export interface PodHTTPUser {
  /** The program, for the header `User-Agent`. */
  readonly program: string;
  readonly config: KubeConfig;
  readonly connection: Pick<KubeConnection, "request">;
}

/** The pod's response, by default as JSON. Throws an `ApiError` when it fails. */
export async function podHTTPGet(
  request: PodHTTPRequest,
  { program, config, connection }: PodHTTPUser,
): Promise<unknown> {
  const { namespace, pod, port, path, timeoutMs, signal, parse = JSON.parse } = request;
  const { promise, resolve, reject } = Promise.withResolvers<FailedResponse>();
  const failure = (reason: string, why: string): ApiError =>
    new ApiError(0, reason, `GET ${path} from pod ${namespace}/${pod}:${port}: ${why}`);
  const fail = (why: string): void => reject(failure("Unreachable", why));
  const timer = setTimeout(
    () => reject(failure("Timeout", `no answer in ${timeoutMs} ms`)),
    timeoutMs,
  );
  const abort = (): void => reject(failure("Aborted", "aborted"));
  signal?.addEventListener("abort", abort);
  if (signal?.aborted) abort();
  const [near, far] = duplexPair();
  const opening = forwardPort(config, { namespace, pod, port, stream: far, onProblem: fail });
  opening.then(() => {
    const headers = { "user-agent": userAgent(program) };
    http.get({ host: "localhost", path, headers, createConnection: () => near }, (response) => {
      const status = response.statusCode ?? 0;
      text(response).then((text) => resolve({ status, text }), reject);
    }).on("error", ({ message }) => fail(message));
  }).catch(({ message }: ErrorEvent) => fail(message));
  try {
    const response = await promise;
    if (response.status !== 200) throw responseError(response, 0);
    return parse(response.text);
  } catch (error) {
    if (error instanceof SyntaxError) throw failure("BadAnswer", "the answer is not JSON");
    if (error instanceof ApiError && error.reason === "Unreachable") {
      await throwRejection(connection, request);
    }
    throw error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
    await opening.then((end) => end(), () => {});
  }
}

/** Statuses that a WebSocket does not report: it only fails to open. */
const HIDDEN_STATUSES: readonly number[] = [401, 403, 404];

/** Repeats the request without a WebSocket, to throw the server's own error. */
async function throwRejection(
  connection: Pick<KubeConnection, "request">,
  { namespace, pod: name, port }: PodHTTPRequest,
): Promise<void> {
  const pod = { groupVersion: "v1", resource: "pods", namespace, name };
  const path = resourcePath({ ...pod, subresource: "portforward" });
  try {
    await connection.request({ path, query: { ports: String(port) } });
  } catch (error) {
    // A user with the permission to forward gets 400, "Upgrade required".
    if (error instanceof ApiError && HIDDEN_STATUSES.includes(error.status)) throw error;
  }
}
