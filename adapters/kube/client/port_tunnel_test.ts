import assert from "node:assert/strict";
import { createHTTPConnection } from "./http_connection.ts";
import { openTunnel } from "./port_tunnel.ts";

/** A server that answers each message of a port-forward with its bytes in upper case, and `bye` with the end. */
function serveEcho(): Deno.HttpServer<Deno.NetAddr> {
  return Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, (request) => {
    const { socket, response } = Deno.upgradeWebSocket(request, {
      protocol: "v4.channel.k8s.io",
    });
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      for (const channel of [0, 1]) socket.send(Uint8Array.of(channel, 0x91, 0x1f));
    };
    socket.onmessage = ({ data }) => {
      const text = new TextDecoder().decode(new Uint8Array(data).subarray(1));
      socket.send(Uint8Array.of(0, ...new TextEncoder().encode(text.toUpperCase())));
      if (text === "bye") socket.close();
    };
    return response;
  });
}

Deno.test("openTunnel() forwards each connection to the pod that is chosen for it, until either side ends", async () => {
  const server = serveEcho();
  const connection = createHTTPConnection({
    server: `http://127.0.0.1:${server.addr.port}`,
    login: () => Promise.resolve({ headers: {} }),
    openClient: () => Promise.resolve(Deno.createHttpClient({})),
  });
  let chosen = 0;
  const tunnel = openTunnel(connection, () => {
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
  connection.close();
  await server.shutdown();
});
