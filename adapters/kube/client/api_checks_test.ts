import fc from "fast-check";
import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import {
  type ReceivedRequest,
  serveCanned,
  statusAnswer,
  userKubeconfig,
} from "../../../tests/fixtures/canned_server.ts";
import { withUser } from "../../../tests/fixtures/kube_connections.ts";
import { podAllocationCRD } from "../../../tools/crd/definitions.ts";
import { type ApiFindings, checkAPI, unknownAllocationFields } from "./api_checks.ts";
import { listOf, objectOf } from "./json_fields.ts";
import type { PodPort } from "./port_forward.ts";
import type { UserConnection } from "./user_connection.ts";

/** A server of 1.36 with all that is needed. */
function complete({ path }: ReceivedRequest): unknown {
  if (path === "/version") return { gitVersion: "v1.36.3" };
  if (path === "/api/v1") return { resources: [{ name: "pods" }, { name: "pods/resize" }] };
  if (path.startsWith("/openapi/")) return statusAnswer(403);
  return { resources: [{ name: "podallocations" }] };
}

Deno.test("checkAPI() returns version and resources", async () => {
  await using server = serveCanned(complete);
  assert.deepEqual(await checkAPI(server.connection), {
    ...{ serverVersion: "v1.36.3", unknownFields: [] },
    ...{ servesPodResize: true, lowersMemoryLimits: true, servesAllocations: true },
  });
});

Deno.test("checkAPI() takes an old or empty server for an answer, a broken one for an error", async () => {
  await using old = serveCanned(({ path }) =>
    path.startsWith("/apis/allocation") ? statusAnswer(404) : {}
  );
  assert.deepEqual(await checkAPI(old.connection), {
    ...{ serverVersion: "", unknownFields: [] },
    ...{ servesPodResize: false, lowersMemoryLimits: false, servesAllocations: false },
  });
  await using broken = serveCanned(() => statusAnswer(503));
  await assert.rejects(checkAPI(broken.connection), { status: 503 });
});

/** The findings about a server of this version, with a core group that has these resources. */
async function findingsOn(gitVersion: unknown, ...names: string[]): Promise<ApiFindings> {
  await using server = serveCanned(({ path }) =>
    path === "/version" ? { gitVersion } : { resources: names.map((name) => ({ name })) }
  );
  return await checkAPI(server.connection);
}

Deno.test("checkAPI() lets memory limits be lowered from 1.34 on", async () => {
  const lowers = async (version: unknown): Promise<boolean> =>
    (await findingsOn(version, "pods/resize")).lowersMemoryLimits;
  for (const version of ["v1.34.0", "v1.35.2-gke.100", "v1.100.0", "v2.0.0"]) {
    assert.equal(await lowers(version), true, version);
  }
  for (const version of ["v1.33.9+k3s1", "v1.9.0", "", "latest", undefined]) {
    assert.equal(await lowers(version), false);
  }
});

Deno.test("property 20: checkAPI() finds in-place support exactly where it is served", async () => {
  const others = fc.array(fc.stringMatching(/^(pods|nodes|resize)(\/[a-z]{1,6})?$/), {
    maxLength: 5,
  });
  const versions = fc.constantFrom("v1.32.0", "v1.36.3");
  await fc.assert(
    fc.asyncProperty(versions, others, fc.boolean(), async (version, found, isOn) => {
      const rest = found.filter((name) => name !== "pods/resize");
      const names = isOn ? [...rest, "pods/resize"] : rest;
      const { servesPodResize, lowersMemoryLimits } = await findingsOn(version, ...names);
      assert.equal(servesPodResize, isOn);
      assert.equal(lowersMemoryLimits, isOn && version === "v1.36.3");
    }),
  );
});

/** The schema of the definition as this version makes it. */
function schema(): string {
  const [version] = listOf(objectOf(objectOf(podAllocationCRD()).spec).versions);
  return JSON.stringify(objectOf(objectOf(version).schema).openAPIV3Schema);
}

/** Fields that the check finds missing where the server's definition is the text of `change`. */
async function unknown(change: (text: string) => string): Promise<readonly string[]> {
  const definition = objectOf(JSON.parse(change(schema())));
  const kind = { group: "allocation.mbcas.io", version: "v1alpha1", kind: "PodAllocation" };
  const found = { ...definition, "x-kubernetes-group-version-kind": [kind] };
  await using server = serveCanned(({ path }) =>
    path === "/openapi/v3/apis/allocation.mbcas.io/v1alpha1"
      ? { components: { schemas: { Other: {}, "io.mbcas.PodAllocation": found } } }
      : statusAnswer(404)
  );
  return await unknownAllocationFields(server.connection);
}

Deno.test("unknownAllocationFields() names fields and values that an older CRD lacks", async () => {
  assert.deepEqual(await unknown((text) => text), []);
  const found = await unknown((text) =>
    text.replace('"boost":', '"older":').replace('"half","lower"', '"lower"')
      .replace('"requestMoves":', '"requestMove":')
  );
  assert.deepEqual(found, [
    "status.bounds.containers.held: half",
    "status.bounds.containers.boost",
    "status.bounds.containers.requestMoves",
  ]);
});

Deno.test("unknownAllocationFields() finds nothing where the server publishes no schema", async () => {
  for (const status of [403, 404]) {
    await using server = serveCanned(() => statusAnswer(status));
    assert.deepEqual(await unknownAllocationFields(server.connection), []);
  }
  await using empty = serveCanned(() => ({}));
  assert.deepEqual(await unknownAllocationFields(empty.connection), []);
  await using broken = serveCanned(() => statusAnswer(503));
  await assert.rejects(unknownAllocationFields(broken.connection), { status: 503 });
});

/** A server that answers a port-forward with these messages, and its user. */
async function withForward(
  answers: readonly Uint8Array<ArrayBuffer>[],
  check: (user: UserConnection, requests: string[]) => Promise<void>,
): Promise<void> {
  const requests: string[] = [];
  await withPortForwards(({ url, text, send, end }) => {
    requests.push(`${url} ${text}`);
    if (answers.length === 0) end();
    else send(answers);
  }, (server) => withUser(userKubeconfig(server), (user) => check(user, requests)));
}

const agent = { namespace: "mbcas-system", pod: "agent", port: 8081 };
const request = { ...agent, path: "/view", timeoutMs: 5000 };

Deno.test("podHTTPGet() asks through the pod's port and puts the answer together", async () => {
  const texts = ["HTTP/1.1 200 OK\r\nContent-Le", 'ngth: 9\r\n\r\n{"a":', "[1]}"];
  await withForward(channelMessages(0, texts), async (user, requests) => {
    assert.deepEqual(await user.podGet(request), { a: [1] });
    assert.equal(requests.length, 1);
    assert.match(
      requests[0] ?? "",
      /^\/api\/v1\/namespaces\/mbcas-system\/pods\/agent\/portforward\?ports=8081 \0GET \/view HTTP\/1\.1\r\n/,
    );
    assert.match(requests[0] ?? "", /\r\nuser-agent: coallocator-kubectl\//);
  });
});

Deno.test("podHTTPGet() throws what the pod or the kubelet refuses, and what never comes", async () => {
  const http = (text: string) => channelMessages(0, [`HTTP/1.1 ${text}`]);
  const away = { status: 0, reason: "Unreachable" };
  const rows = [
    [http("503 Busy\r\nContent-Length: 4\r\n\r\nbusy"), { status: 503, message: "busy" }],
    [http("200 OK\r\nContent-Length: 1\r\n\r\n<"), { status: 0, reason: "BadAnswer" }],
    [
      channelMessages(1, ["connection refused"]),
      { ...away, message: /agent:8081: connection refused/ },
    ],
    [channelMessages(0, []), { status: 0, reason: "Timeout" }, 50],
    [[], away],
  ] as const;
  for (const [answers, expected, timeoutMs = 5000] of rows) {
    await withForward(
      answers,
      (user) => assert.rejects(user.podGet({ ...request, timeoutMs }), expected),
    );
  }
  await withForward(channelMessages(0, []), async (user) => {
    const ending = new AbortController();
    const answer = user.podGet({ ...request, signal: ending.signal });
    ending.abort();
    await assert.rejects(answer, { reason: "Aborted" });
  });
});

Deno.test("podHTTPGet() throws the server's own error when no socket opens", async () => {
  await using server = serveCanned(() =>
    statusAnswer(403, { reason: "Forbidden", message: "cannot create pods/portforward" })
  );
  const message = "cannot create pods/portforward";
  await withUser(
    userKubeconfig(server.url),
    (user) => assert.rejects(user.podGet(request), { status: 403, message }),
  );
});

/** Answers each message with its bytes in upper case, and `bye` with the end. */
function echo(): (message: ForwardedMessage) => void {
  const begun = new Set<string>();
  return ({ url, text, send, end }) => {
    const answers = channelMessages(0, [text.slice(1).toUpperCase()]);
    send(begun.has(url) ? answers.slice(1) : [...answers, ...channelMessages(1, [])]);
    begun.add(url);
    if (text.endsWith("bye")) end();
  };
}

async function checkTunnel(user: UserConnection): Promise<void> {
  let chosen = 0;
  const tunnel = await user.tunnel((): Promise<PodPort> => {
    if (++chosen === 3) return Promise.reject(new Error("no pod"));
    return Promise.resolve({ namespace: "mbcas-system", pod: `pod-${chosen}`, port: 8082 });
  });
  const [hostname = "", port] = tunnel.address.split(":");
  const connect = (): Promise<Deno.TcpConn> => Deno.connect({ hostname, port: Number(port) });
  async function exchange(conn: Deno.Conn, text: string): Promise<string> {
    await conn.write(new TextEncoder().encode(text));
    const bytes = new Uint8Array(100);
    return new TextDecoder().decode(bytes.subarray(0, await conn.read(bytes) ?? 0));
  }
  const [one, two] = [await connect(), await connect()];
  assert.equal(await exchange(one, "get"), "GET");
  assert.equal(await exchange(two, "bye"), "BYE");
  assert.equal(await two.read(new Uint8Array(1)), null);
  const three = await connect();
  assert.equal(await three.read(new Uint8Array(1)), null);
  assert.equal(await exchange(one, "more"), "MORE");
  await tunnel.close();
  await tunnel.close();
  assert.equal(chosen, 3);
  for (const conn of [one, two, three]) conn.close();
}

Deno.test("openTunnel() forwards each connection to the pod that is chosen for it, until either side ends", async () => {
  await withPortForwards(echo(), (server) => withUser(userKubeconfig(server), checkTunnel));
});

const encoder = new TextEncoder();

/** A message for the port, and ways to answer it. */
interface ForwardedMessage {
  /** The port-forward's URL. */
  readonly url: string;
  readonly text: string;
  /** At most 125 bytes each. */
  send(messages: readonly Uint8Array[]): void;
  end(): void;
}

/** Messages of a channel: first the port's number, then the texts. */
function channelMessages(
  channel: number,
  texts: readonly string[],
): Uint8Array<ArrayBuffer>[] {
  return [
    Uint8Array.of(channel, 0x91, 0x1f),
    ...texts.map((text) => Uint8Array.of(channel, ...encoder.encode(text))),
  ];
}

/** Runs the test with the server's address. */
async function withPortForwards(
  answer: (message: ForwardedMessage) => void,
  test: (server: string) => Promise<void>,
): Promise<void> {
  const server = createServer((_request, response) => response.writeHead(400).end("no upgrade"));
  server.on("upgrade", async (request, socket) => {
    socket.on("error", () => {});
    socket.write(await handshake(request.headers["sec-websocket-key"] ?? ""));
    socket.on("data", (frame: Uint8Array) => {
      // A client's frame of this length: two bytes, four of the mask, the channel, the text.
      const [mask, masked] = [frame.subarray(2, 6), frame.subarray(6)];
      const data = masked.map((byte, index) => byte ^ (mask[index % 4] ?? 0));
      answer({
        url: request.url ?? "",
        text: new TextDecoder().decode(data),
        send(messages) {
          for (const one of messages) socket.write(Uint8Array.of(0x82, one.length, ...one));
        },
        end: () => socket.end(),
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await test(addressOf(server));
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

function addressOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
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
