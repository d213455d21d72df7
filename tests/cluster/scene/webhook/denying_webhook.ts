/**
 * A policy engine as API servers see one: an HTTPS server that is asked about each resize.
 *
 * @module
 */
import { objectOf, textOf } from "../../../../adapters/kube/client/json_fields.ts";
import { run } from "../../harness/shell.ts";

/** The server while it runs. */
export interface DenyingWebhook extends AsyncDisposable {
  /** Where the API server reaches it. */
  readonly url: string;
  /** PEM of its certificate, base64: it is its own authority. */
  readonly caBundle: string;
  /** The users of the requests, in the order of arrival; dry runs are left out. */
  readonly asked: readonly string[];
}

/** Listens on `address`, which the API server must reach, and denies all with this message. */
export async function denyingWebhook(address: string, message: string): Promise<DenyingWebhook> {
  const folder = await Deno.makeTempDir();
  const [keyFile, certFile] = [`${folder}/key.pem`, `${folder}/cert.pem`];
  await run([
    ...["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1"],
    ...["-subj", "/CN=policy", "-addext", `subjectAltName=IP:${address}`],
    ...["-keyout", keyFile, "-out", certFile],
  ]);
  const key = await Deno.readTextFile(keyFile);
  const cert = await Deno.readTextFile(certFile);
  await Deno.remove(folder, { recursive: true });
  const asked: string[] = [];
  const server = Deno.serve(
    { hostname: address, port: 0, key, cert, onListen() {} },
    async (request) => {
      const review = objectOf(await request.json());
      const { uid, userInfo, dryRun } = objectOf(review["request"]);
      if (dryRun !== true) asked.push(textOf(objectOf(userInfo).username) ?? "");
      return Response.json({
        apiVersion: "admission.k8s.io/v1",
        kind: "AdmissionReview",
        response: { uid, allowed: false, status: { code: 403, message } },
      });
    },
  );
  return {
    url: `https://${address}:${server.addr.port}/validate`,
    caBundle: btoa(cert),
    asked,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}
