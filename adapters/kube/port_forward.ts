/**
 * A GET to a port of a pod, through the API server and the kubelet, with the user's rights
 * (`pods/portforward`), as `kubectl port-forward` and a client beside it would do.
 *
 * @module
 */
import { ApiError } from "../../shared/api/api_error.ts";
import { answerError } from "./answer_error.ts";
import {
  type KubeConnection,
  type KubeRequest,
  type OpenKubeConnection,
  pathPart,
} from "./connection.ts";
import { type HTTPAnswer, parseHTTPAnswer } from "./http_answer.ts";

/** What to get. */
export interface PodHTTPRequest {
  readonly namespace: string;
  readonly pod: string;
  /** The container's port. */
  readonly port: number;
  /** For instance `/view`. */
  readonly path: string;
  /**
   * How long the answer may take, ms.
   *
   * @default {10000}
   */
  readonly timeoutMs?: number;
}

/** Each message begins with its channel's number; a port has two, for data and for errors. */
const PROTOCOL = "v4.channel.k8s.io";
const DATA = 0;
const ERRORS = 1;

/** The first message of a channel only repeats the port's number, two bytes after the channel's. */
const PREFACE_BYTES = 2;

/** The JSON that the pod answers. Throws an `ApiError` when there is none, or it is a refusal. */
export async function podHTTPGet(
  connection: OpenKubeConnection,
  request: PodHTTPRequest,
): Promise<unknown> {
  const { namespace, pod, port, path, timeoutMs = 10_000 } = request;
  const what = `GET ${path} from pod ${namespace}/${pod}:${port}`;
  const forward = {
    path: `/api/v1/namespaces/${pathPart(namespace)}/pods/${pathPart(pod)}/portforward`,
    query: { ports: String(port) },
  };
  const socket = await connection.socket({ ...forward, protocols: [PROTOCOL] });
  const answer = await exchange(socket, { what, path, timeoutMs }).catch(async (error) => {
    await throwRefusal(connection, forward);
    throw error;
  });
  if (answer.status !== 200) throw answerError(answer, 0);
  try {
    return JSON.parse(answer.text);
  } catch (cause) {
    throw new ApiError(0, "BadAnswer", `${what}: the answer is no JSON`, { cause });
  }
}

/** Refusals that a WebSocket hides: it only says that it could not open. */
const HIDDEN: readonly number[] = [401, 403, 404];

/** Throws the server's own words where a plain request is refused as the WebSocket was. */
async function throwRefusal(connection: KubeConnection, request: KubeRequest): Promise<void> {
  try {
    await connection.request(request);
  } catch (error) {
    // 400, "Upgrade required", is the answer to whoever may forward.
    if (error instanceof ApiError && HIDDEN.includes(error.status)) throw error;
  }
}

interface Exchange {
  readonly what: string;
  readonly path: string;
  readonly timeoutMs: number;
}

/** Sends the request when the socket is open, and closes it when the answer is complete. */
function exchange(socket: WebSocket, { what, path, timeoutMs }: Exchange): Promise<HTTPAnswer> {
  socket.binaryType = "arraybuffer";
  const received: Uint8Array[] = [];
  const begun = new Set<number>();
  return new Promise<HTTPAnswer>((resolve, reject) => {
    let outcome: (() => void) | undefined;
    const timer = setTimeout(
      () => end(() => reject(new ApiError(0, "Timeout", `${what}: no answer in ${timeoutMs} ms`))),
      timeoutMs,
    );
    /** The outcome is told once the socket is closed, so that nothing of it is left behind. */
    const end = (tell: () => void): void => {
      outcome ??= tell;
      clearTimeout(timer);
      if (socket.readyState === WebSocket.CLOSED) outcome();
      else socket.close();
    };
    const fail = (words: string): void =>
      end(() => reject(new ApiError(0, "Unreachable", `${what}: ${words}`)));
    // HTTP/1.0: the pod closes when it is done, and never cuts the answer into chunks.
    socket.onopen = () =>
      socket.send(
        frame(`GET ${path} HTTP/1.0\r\nHost: localhost\r\nAccept: application/json\r\n\r\n`),
      );
    socket.onmessage = ({ data }) => {
      if (!(data instanceof ArrayBuffer)) return;
      const bytes = new Uint8Array(data);
      const channel = bytes[0] ?? DATA;
      const content = bytes.subarray(1 + (begun.has(channel) ? 0 : PREFACE_BYTES));
      begun.add(channel);
      if (content.length === 0) return;
      if (channel === ERRORS) return fail(new TextDecoder().decode(content));
      received.push(content);
      const answer = parseHTTPAnswer(received, { ended: false });
      if (answer !== undefined) end(() => resolve(answer));
    };
    socket.onerror = (event) =>
      fail(event instanceof ErrorEvent ? event.message : "the connection failed");
    socket.onclose = () => {
      const answer = parseHTTPAnswer(received, { ended: true });
      if (outcome !== undefined) outcome();
      else if (answer !== undefined) end(() => resolve(answer));
      else fail("the connection was closed before the answer");
    };
  });
}

function frame(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new TextEncoder().encode(text);
  const framed = new Uint8Array(1 + bytes.length);
  framed[0] = DATA;
  framed.set(bytes, 1);
  return framed;
}
