import assert from "node:assert/strict";
import { serveCanned, statusAnswer } from "../../../tests/fixtures/canned_server.ts";
import { withFile } from "../../../tests/fixtures/cli/task_world.ts";
import { channelMessages, withPortForwards } from "../../../tests/fixtures/port_forward_server.ts";
import { userKubeconfig } from "../../../tests/fixtures/user_kubeconfig.ts";
import { connectUser, type UserConnection } from "./user_connection.ts";

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
  }, (server) =>
    withFile(userKubeconfig(server), async (path) => {
      const user = connectUser({ program: "kubectl", path, env: () => undefined });
      await check(user, requests);
      user.close();
    }));
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
  await withForward(channelMessages(0, texts), async (user, requests) => {
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
  await withForward(channelMessages(0, busy), async (user) => {
    await assert.rejects(user.podGet(request), { status: 503, message: "busy" });
  });
  await withForward(channelMessages(1, ["connection refused"]), async (user) => {
    await assert.rejects(user.podGet(request), {
      status: 0,
      reason: "Unreachable",
      message: /agent:8081: connection refused/,
    });
  });
  await withForward(channelMessages(0, []), async (user) => {
    await assert.rejects(user.podGet({ ...request, timeoutMs: 50 }), {
      status: 0,
      reason: "Timeout",
    });
  });
  await withForward(channelMessages(0, []), async (user) => {
    const ending = new AbortController();
    const answer = user.podGet({ ...request, signal: ending.signal });
    ending.abort();
    await assert.rejects(answer, { reason: "Aborted" });
  });
  await withForward([], async (user) => {
    await assert.rejects(user.podGet(request), { reason: "Unreachable" });
  });
  const html = ["HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n<"];
  await withForward(channelMessages(0, html), async (user) => {
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
