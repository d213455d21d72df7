import assert from "node:assert/strict";
import type { RequestOptions } from "node:https";
import { pluginLogin } from "./credential_plugin.ts";

/** A login by a shell script. */
const loginBy = (script: string) =>
  pluginLogin({ exec: { command: "sh", args: ["-c", script] }, cluster: {}, inIsTerminal: false });

/** A plugin that asks for a code on standard error, with the code and `interactive` as token. */
const ASKING = `echo "Enter the code" >&2; read -r code
  case $KUBERNETES_EXEC_INFO in *'"interactive":true'*) code=$code-asked ;; esac
  echo "{\\"status\\":{\\"token\\":\\"code$code\\"}}"`;

/** A program with a terminal that logs in, and prints the headers. */
const loginProgram = (interactiveMode?: string): string => `
import { pluginLogin } from "${new URL("./credential_plugin.ts", import.meta.url)}";
const exec = ${JSON.stringify({ command: "sh", args: ["-c", ASKING], interactiveMode })};
const request = {};
await pluginLogin({ exec, cluster: {}, inIsTerminal: true })
  .applyAuthentication({ name: "me" }, request);
console.log(JSON.stringify(request));`;

Deno.test("pluginLogin() lets a plugin ask the user of a terminal, unless its mode is Never", async () => {
  for (const [mode, code] of [[undefined, "7-asked"], ["Always", "7-asked"], ["Never", ""]]) {
    const { stdout, stderr } = await new Deno.Command("sh", {
      args: ["-c", 'echo 7 | "$0" eval "$1"', Deno.execPath(), loginProgram(mode)],
    }).output();
    const [printed, asked] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
    assert.equal(asked, "Enter the code\n");
    const headers = { Authorization: `Bearer code${code}` };
    assert.deepEqual(JSON.parse(printed ?? ""), { headers }, mode);
  }
});

Deno.test("pluginLogin() adds the token or the certificate that a plugin prints", async () => {
  const status = { clientCertificateData: "C", clientKeyData: "K" };
  const request: RequestOptions = { headers: { accept: "a" } };
  await loginBy(`echo '${JSON.stringify({ status })}'`).applyAuthentication(
    { name: "me" },
    request,
  );
  assert.deepEqual(request, { headers: { accept: "a" }, cert: "C", key: "K" });
  await loginBy(`echo '{"status":{"token":"t"}}'`).applyAuthentication({ name: "me" }, request);
  assert.deepEqual(request.headers, { accept: "a", Authorization: "Bearer t" });
  const half = loginBy(`echo '{"status":{"token":"t","clientKeyData":"K"}}'`);
  await assert.rejects(async () => await half.applyAuthentication({ name: "me" }, {}), {
    reason: "LoginFailed",
  });
});

Deno.test("pluginLogin() runs a plugin once for all that wait, and again when its credential expires", async () => {
  const counter = await Deno.makeTempFile();
  const token = async (login = expiring): Promise<unknown> => {
    const request: RequestOptions = {};
    await login.applyAuthentication({ name: "me" }, request);
    return request.headers;
  };
  const counting = (year: number) =>
    loginBy(
      `echo x >> ${counter}; n=$(wc -l < ${counter} | tr -d ' '); ` +
        `echo '{"status":{"token":"t'$n'","expirationTimestamp":"${year}-01-01T00:00:00Z"}}'`,
    );
  const [expiring, lasting] = [counting(2000), counting(9000)];
  const [one, two, three] = [1, 2, 3].map((n) => ({ Authorization: `Bearer t${n}` }));
  assert.deepEqual(await Promise.all([token(), token()]), [one, one]);
  assert.deepEqual(await token(), two);
  assert.deepEqual([await token(lasting), await token(lasting)], [three, three]);
  await Deno.remove(counter);
});
