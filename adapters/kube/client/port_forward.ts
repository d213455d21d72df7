/**
 * A GET to a port of a pod through the API server and the kubelet, with the user's rights
 * (`pods/portforward`), as through `kubectl port-forward`.
 *
 * @module
 */
import { ApiError } from "../../../shared/api/api_error.ts";
import { responseError } from "./response_errors.ts";
import {
  type KubeConnection,
  type KubeRequest,
  type KubeSocketRequest,
  type OpenKubeConnection,
  resourcePath,
} from "./connection.ts";

/** A request to a pod. */
export interface PodHTTPRequest {
  readonly namespace: string;
  readonly pod: string;
  readonly port: number;
  /** For instance `/view`. */
  readonly path: string;
  /** Timeout, ms. @default {10000} */
  readonly timeoutMs?: number;
  /** Reads the body. @default {JSON.parse} */
  readonly parse?: (text: string) => unknown;
}

/** The first byte of a message is its channel; a port has two, for data and for errors. */
const PROTOCOL = "v4.channel.k8s.io";
const DATA = 0;
const ERRORS = 1;

/** The first message of a channel is the port's number, two bytes after the channel's. */
const PREFACE_BYTES = 2;

/** The pod's response, by default as JSON. Throws an `ApiError` when it fails. */
export async function podHTTPGet(
  connection: OpenKubeConnection,
  request: PodHTTPRequest,
): Promise<unknown> {
  const { namespace, pod, port, path, timeoutMs = 10_000, parse = JSON.parse } = request;
  const what = `GET ${path} from pod ${namespace}/${pod}:${port}`;
  const forward = portForward({ namespace, pod, port });
  const socket = await connection.socket(forward);
  const response = await exchange(socket, { what, path, timeoutMs }).catch(async (error) => {
    await throwRejection(connection, forward);
    throw error;
  });
  if (response.status !== 200) throw responseError(response, 0);
  try {
    return parse(response.text);
  } catch (cause) {
    throw new ApiError(0, "BadAnswer", `${what}: the answer is not JSON`, { cause });
  }
}

/** The request that opens a WebSocket to the port of a pod. */
export function portForward(
  { namespace, pod: name, port }: Pick<PodHTTPRequest, "namespace" | "pod" | "port">,
): KubeSocketRequest {
  const pod = { groupVersion: "v1", resource: "pods", namespace, name };
  return {
    path: resourcePath({ ...pod, subresource: "portforward" }),
    query: { ports: String(port) },
    protocols: [PROTOCOL],
  };
}

/** Statuses that a WebSocket hides: it only reports that it could not open. */
const HIDDEN: readonly number[] = [401, 403, 404];

/** Repeats the request without a WebSocket, to throw the server's own error. */
async function throwRejection(connection: KubeConnection, request: KubeRequest): Promise<void> {
  try {
    await connection.request(request);
  } catch (error) {
    // A user with the permission to forward gets 400, "Upgrade required".
    if (error instanceof ApiError && HIDDEN.includes(error.status)) throw error;
  }
}

/** Sends the request when the socket is open, and closes it when the response is complete. */
function exchange(
  socket: WebSocket,
  { what, path, timeoutMs }: {
    readonly what: string;
    readonly path: string;
    readonly timeoutMs: number;
  },
): Promise<HTTPResponse> {
  socket.binaryType = "arraybuffer";
  const received: Uint8Array[] = [];
  const contentOf = channelContents();
  return new Promise<HTTPResponse>((resolve, reject) => {
    let outcome: (() => void) | undefined;
    const timer = setTimeout(
      () => end(() => reject(new ApiError(0, "Timeout", `${what}: no answer in ${timeoutMs} ms`))),
      timeoutMs,
    );
    /** Settles the promise once the socket is closed, so that no resource is left open. */
    const end = (settle: () => void): void => {
      outcome ??= settle;
      clearTimeout(timer);
      if (socket.readyState === WebSocket.CLOSED) outcome();
      else socket.close();
    };
    const fail = (why: string): void =>
      end(() => reject(new ApiError(0, "Unreachable", `${what}: ${why}`)));
    // HTTP/1.0: the pod closes the connection at the end, and does not use chunked encoding.
    socket.onopen = () =>
      socket.send(
        portFrame(new TextEncoder().encode(
          `GET ${path} HTTP/1.0\r\nHost: localhost\r\nAccept: application/json\r\n\r\n`,
        )),
      );
    socket.onmessage = ({ data }) => {
      const { isError, content } = contentOf(data);
      if (content.length === 0) return;
      if (isError) return fail(new TextDecoder().decode(content));
      received.push(content);
      const response = parseHTTPResponse(received, { ended: false });
      if (response !== undefined) end(() => resolve(response));
    };
    socket.onerror = (event) =>
      fail(event instanceof ErrorEvent ? event.message : "the connection failed");
    socket.onclose = () => {
      const response = parseHTTPResponse(received, { ended: true });
      if (outcome !== undefined) outcome();
      else if (response !== undefined) end(() => resolve(response));
      else fail("the connection was closed before the answer");
    };
  });
}

/** A message with these bytes for the port. */
export function portFrame(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const framed = new Uint8Array(1 + bytes.length);
  framed[0] = DATA;
  framed.set(bytes, 1);
  return framed;
}

/** Bytes from the port, or the message of an error. */
export interface ChannelContent {
  readonly isError: boolean;
  /** May be empty. */
  readonly content: Uint8Array<ArrayBuffer>;
}

/** Reads the messages of one socket. */
export function channelContents(): (message: ArrayBuffer) => ChannelContent {
  const begun = new Set<number>();
  return (message) => {
    const bytes = new Uint8Array(message);
    const channel = bytes[0] ?? DATA;
    const content = bytes.subarray(1 + (begun.has(channel) ? 0 : PREFACE_BYTES));
    begun.add(channel);
    return { isError: channel === ERRORS && content.length > 0, content };
  };
}

/** A status and a body. */
export interface HTTPResponse {
  readonly status: number;
  readonly text: string;
}

const END_OF_HEAD = "\r\n\r\n";

/**
 * Parses an HTTP/1.0 response once it is complete: when it has the bytes of its Content-Length, or the
 * connection has ended. Undefined before, and for bytes that are no HTTP.
 */
export function parseHTTPResponse(
  chunks: readonly Uint8Array[],
  { ended }: { readonly ended: boolean },
): HTTPResponse | undefined {
  const bytes = joined(chunks);
  // Latin-1 has one character per byte, so that indices of the text are indices of the bytes.
  const headLength = new TextDecoder("latin1").decode(bytes).indexOf(END_OF_HEAD);
  if (headLength < 0) return undefined;
  const head = new TextDecoder("latin1").decode(bytes.subarray(0, headLength));
  const status = /^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1];
  if (status === undefined) return undefined;
  const body = bytes.subarray(headLength + END_OF_HEAD.length);
  const length = /^content-length: *(\d+) *$/im.exec(head)?.[1];
  const complete = length === undefined ? ended : body.length >= Number(length);
  if (!complete) return undefined;
  const whole = length === undefined ? body : body.subarray(0, Number(length));
  return { status: Number(status), text: new TextDecoder().decode(whole) };
}

function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}
