import assert from "node:assert/strict";
import { serveCanned, statusAnswer } from "../../../tests/fixtures/canned_server.ts";
import type { OpenKubeConnection } from "./connection.ts";
import { createHTTPConnection } from "./http_connection.ts";
import { parseHTTPResponse, podHTTPGet } from "./port_forward.ts";

const encoder = new TextEncoder();

/** Messages of a channel: first the port's number, then the texts. */
function messages(channel: number, texts: readonly string[]): Uint8Array<ArrayBuffer>[] {
  return [
    Uint8Array.of(channel, 0x91, 0x1f),
    ...texts.map((text) => Uint8Array.of(channel, ...encoder.encode(text))),
  ];
}

/** A server that answers a port-forward with these messages, and its user's connection. */
async function withForward(
  answers: readonly Uint8Array<ArrayBuffer>[],
  check: (connection: OpenKubeConnection, requests: string[]) => Promise<void>,
): Promise<void> {
  const requests: string[] = [];
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, (request) => {
    if (request.headers.get("upgrade") !== "websocket") {
      return statusAnswer(400, { message: "Upgrade request required" });
    }
    const { socket, response } = Deno.upgradeWebSocket(request, {
      protocol: "v4.channel.k8s.io",
    });
    socket.binaryType = "arraybuffer";
    socket.onmessage = ({ data }) => {
      requests.push(`${new URL(request.url).pathname} ${new TextDecoder().decode(data)}`);
      for (const answer of answers) socket.send(answer);
      if (answers.length === 0) socket.close();
    };
    return response;
  });
  const connection = createHTTPConnection({
    server: `http://127.0.0.1:${server.addr.port}`,
    login: () => Promise.resolve({ headers: {} }),
    openClient: () => Promise.resolve(Deno.createHttpClient({})),
  });
  try {
    await check(connection, requests);
  } finally {
    connection.close();
    await server.shutdown();
  }
}

const request = { namespace: "mbcas-system", pod: "agent", port: 8081, path: "/view" };

Deno.test("podHTTPGet() asks through the pod's port and puts the answer together", async () => {
  const texts = ["HTTP/1.1 200 OK\r\nContent-Le", 'ngth: 9\r\n\r\n{"a":', "[1]}"];
  await withForward(messages(0, texts), async (connection, requests) => {
    assert.deepEqual(await podHTTPGet(connection, request), { a: [1] });
    assert.equal(requests.length, 1);
    assert.match(
      requests[0] ?? "",
      /^\/api\/v1\/namespaces\/mbcas-system\/pods\/agent\/portforward \0GET \/view HTTP\/1\.0\r\n/,
    );
  });
});

Deno.test("podHTTPGet() throws what the pod or the kubelet refuses, and what never comes", async () => {
  const busy = ["HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusy"];
  await withForward(messages(0, busy), async (connection) => {
    await assert.rejects(podHTTPGet(connection, request), { status: 503, message: "busy" });
  });
  await withForward(messages(1, ["connection refused"]), async (connection) => {
    await assert.rejects(podHTTPGet(connection, request), {
      status: 0,
      reason: "Unreachable",
      message: /agent:8081: connection refused/,
    });
  });
  await withForward(messages(0, []), async (connection) => {
    await assert.rejects(podHTTPGet(connection, { ...request, timeoutMs: 50 }), {
      status: 0,
      reason: "Timeout",
    });
  });
  await withForward([], async (connection) => {
    await assert.rejects(podHTTPGet(connection, request), { reason: "Unreachable" });
  });
  const html = ["HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n<"];
  await withForward(messages(0, html), async (connection) => {
    await assert.rejects(podHTTPGet(connection, request), { status: 0, reason: "BadAnswer" });
  });
});

Deno.test("podHTTPGet() throws the server's own error when no socket opens", async () => {
  await using server = serveCanned(() =>
    statusAnswer(403, { reason: "Forbidden", message: "cannot create pods/portforward" })
  );
  await assert.rejects(podHTTPGet(server.connection, request), {
    status: 403,
    message: "cannot create pods/portforward",
  });
});

Deno.test("parseHTTPResponse() waits for the length that was promised, or for the end", () => {
  const bytes = (text: string): Uint8Array[] => [encoder.encode(text)];
  const sized = "HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\n";
  assert.equal(parseHTTPResponse(bytes(`${sized}ab`), { ended: false }), undefined);
  assert.equal(parseHTTPResponse(bytes(`${sized}ab`), { ended: true }), undefined);
  assert.deepEqual(parseHTTPResponse(bytes(`${sized}é!more`), { ended: false }), {
    status: 200,
    text: "é!",
  });
  const open = "HTTP/1.0 404 Not Found\r\nServer: x\r\n\r\nnothing";
  assert.equal(parseHTTPResponse(bytes(open), { ended: false }), undefined);
  assert.deepEqual(parseHTTPResponse(bytes(open), { ended: true }), {
    status: 404,
    text: "nothing",
  });
  assert.equal(parseHTTPResponse(bytes("SSH-2.0\r\n\r\n"), { ended: true }), undefined);
  assert.equal(parseHTTPResponse([], { ended: true }), undefined);
});
