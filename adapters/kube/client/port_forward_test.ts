import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { serveCanned, statusAnswer } from "../../../tests/fixtures/canned_server.ts";
import { withFile } from "../../../tests/fixtures/cli/task_world.ts";
import { userKubeconfig } from "../../../tests/fixtures/user_kubeconfig.ts";
import { connectUser, type UserConnection } from "./user_connection.ts";

const encoder = new TextEncoder();

/** Messages of a channel: first the port's number, then the texts. */
function messages(channel: number, texts: readonly string[]): Uint8Array<ArrayBuffer>[] {
  return [
    Uint8Array.of(channel, 0x91, 0x1f),
    ...texts.map((text) => Uint8Array.of(channel, ...encoder.encode(text))),
  ];
}

/** Bytes of a WebSocket's opening handshake (RFC 6455, section 4.2.2). */
async function handshake(key: string): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = encoder.encode(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-1", bytes));
  return encoder.encode(
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
      `Sec-WebSocket-Accept: ${digest.toBase64()}\r\n` +
      "Sec-WebSocket-Protocol: v4.channel.k8s.io\r\n\r\n",
  );
}

/** A server that answers a port-forward with these messages, and its user. */
async function withForward(
  answers: readonly Uint8Array<ArrayBuffer>[],
  check: (user: UserConnection, requests: string[]) => Promise<void>,
): Promise<void> {
  const requests: string[] = [];
  const server = createServer((_request, response) => response.writeHead(400).end("no upgrade"));
  server.on("upgrade", async (request, socket) => {
    socket.on("error", () => {});
    socket.write(await handshake(request.headers["sec-websocket-key"] ?? ""));
    socket.once("data", (frame: Uint8Array) => {
      // A client's frame of this length: two bytes, four of the mask, the channel, the text.
      const [mask, masked] = [frame.subarray(2, 6), frame.subarray(6)];
      const data = masked.map((byte, index) => byte ^ (mask[index % 4] ?? 0));
      requests.push(`${request.url} ${new TextDecoder().decode(data)}`);
      for (const answer of answers) socket.write(Uint8Array.of(0x82, answer.length, ...answer));
      if (answers.length === 0) socket.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  try {
    await withFile(userKubeconfig(`http://127.0.0.1:${port}`), async (path) => {
      const user = connectUser({ program: "kubectl", path, env: () => undefined });
      await check(user, requests);
      user.close();
    });
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const request = {
  namespace: "mbcas-system",
  pod: "agent",
  port: 8081,
  path: "/view",
  timeoutMs: 5000,
};

Deno.test("podHTTPGet() asks through the pod's port and puts the answer together", async () => {
  const texts = ["HTTP/1.1 200 OK\r\nContent-Le", 'ngth: 9\r\n\r\n{"a":', "[1]}"];
  await withForward(messages(0, texts), async (user, requests) => {
    assert.deepEqual(await user.podGet(request), { a: [1] });
    assert.equal(requests.length, 1);
    assert.match(
      requests[0] ?? "",
      /^\/api\/v1\/namespaces\/mbcas-system\/pods\/agent\/portforward\?ports=8081 \0GET \/view HTTP\/1\.1\r\n/,
    );
  });
});

Deno.test("podHTTPGet() throws what the pod or the kubelet refuses, and what never comes", async () => {
  const busy = ["HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusy"];
  await withForward(messages(0, busy), async (user) => {
    await assert.rejects(user.podGet(request), { status: 503, message: "busy" });
  });
  await withForward(messages(1, ["connection refused"]), async (user) => {
    await assert.rejects(user.podGet(request), {
      status: 0,
      reason: "Unreachable",
      message: /agent:8081: connection refused/,
    });
  });
  await withForward(messages(0, []), async (user) => {
    await assert.rejects(user.podGet({ ...request, timeoutMs: 50 }), {
      status: 0,
      reason: "Timeout",
    });
  });
  await withForward(messages(0, []), async (user) => {
    const ending = new AbortController();
    const answer = user.podGet({ ...request, signal: ending.signal });
    ending.abort();
    await assert.rejects(answer, { reason: "Aborted" });
  });
  await withForward([], async (user) => {
    await assert.rejects(user.podGet(request), { reason: "Unreachable" });
  });
  const html = ["HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n<"];
  await withForward(messages(0, html), async (user) => {
    await assert.rejects(user.podGet(request), { status: 0, reason: "BadAnswer" });
  });
});

Deno.test("podHTTPGet() throws the server's own error when no socket opens", async () => {
  await using server = serveCanned(() =>
    statusAnswer(403, { reason: "Forbidden", message: "cannot create pods/portforward" })
  );
  await withFile(userKubeconfig(server.url), async (path) => {
    const user = connectUser({ program: "kubectl", path, env: () => undefined });
    await assert.rejects(user.podGet(request), {
      status: 403,
      message: "cannot create pods/portforward",
    });
    user.close();
  });
});
