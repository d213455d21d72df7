import assert from "node:assert/strict";
import { withFile } from "../../../tests/fixtures/cli/task_world.ts";
import {
  channelMessages,
  type ForwardedMessage,
  withPortForwards,
} from "../../../tests/fixtures/port_forward_server.ts";
import { userKubeconfig } from "../../../tests/fixtures/user_kubeconfig.ts";
import type { PodPort } from "./port_forward.ts";
import { connectUser } from "./user_connection.ts";

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

async function checkTunnel(path: string): Promise<void> {
  const user = connectUser({ program: "kubectl", path, env: () => undefined });
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
  user.close();
}

Deno.test("openTunnel() forwards each connection to the pod that is chosen for it, until either side ends", async () => {
  await withPortForwards(echo(), (server) => withFile(userKubeconfig(server), checkTunnel));
});
