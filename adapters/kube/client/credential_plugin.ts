/**
 * Credential plugins of kubeconfigs (`exec`), run as kubectl runs them: see "client-go credential plugins"
 * in the Kubernetes documentation. client-node 2.0.1 keeps a plugin's questions from the user, and leaves
 * it waiting for an answer.
 *
 * @module
 */
import type { Authenticator } from "./client_node.d.ts";
import { ApiError } from "../../../shared/api/api_error.ts";
import { defined } from "../../../shared/defined.ts";
import { type JSONObject, listOf, objectOf, textOf } from "./json_fields.ts";

/** A plugin, and what it receives. */
export interface CredentialPlugin {
  /** `exec` of the kubeconfig's user. */
  readonly exec: JSONObject;
  /** The kubeconfig's cluster, for plugins with `provideClusterInfo`. */
  readonly cluster: JSONObject;
  /** Whether standard input is a terminal, from which the plugin may read. */
  readonly inIsTerminal: boolean;
}

/** Logs in by a plugin. It runs once for all requests until its credential expires. */
export function pluginLogin(plugin: CredentialPlugin): Authenticator {
  let credential: JSONObject | undefined;
  let running: Promise<JSONObject> | undefined;
  return {
    isAuthProvider: () => true,
    async applyAuthentication({ name }, request) {
      // A plugin without an expiry is run again only after the server has refused its credential.
      const expiry = Date.parse(textOf(credential?.expirationTimestamp) ?? "");
      if (credential === undefined || expiry <= Date.now()) {
        running ??= runPlugin(name, plugin).finally(() => running = undefined);
        credential = await running;
      }
      const { token, clientCertificateData: cert, clientKeyData: key } = credential;
      const headers = textOf(token) && { ...request.headers, Authorization: `Bearer ${token}` };
      Object.assign(request, defined({ headers, cert: textOf(cert), key: textOf(key) }));
    },
  };
}

/** The error of a login. */
export function loginFailed(user: unknown, why: string): ApiError {
  return new ApiError(0, "LoginFailed", `Cannot log in as user "${user}": ${why}`);
}

const INTERACTIVE_MODES: readonly string[] = ["Never", "IfAvailable", "Always"];

/** The credential that the plugin prints. Errors never repeat its output, which may have a token. */
async function runPlugin(
  user: unknown,
  { exec, cluster, inIsTerminal }: CredentialPlugin,
): Promise<JSONObject> {
  const command = textOf(exec.command);
  if (command === undefined) throw loginFailed(user, "its plugin has no command");
  const name = `plugin "${command}"`;
  const { interactiveMode: mode } = exec;
  if (mode && !INTERACTIVE_MODES.includes(String(mode))) {
    const state = `interactiveMode of ${name} is "${mode}"`;
    throw loginFailed(user, `${state}; set one of ${INTERACTIVE_MODES.join(", ")}`);
  }
  if (mode === "Always" && !inIsTerminal) {
    const state = `interactiveMode of ${name} is Always, but standard input is not a terminal`;
    throw loginFailed(user, `${state}; run the command in a terminal`);
  }
  const interactive = inIsTerminal && mode !== "Never";
  const variables = listOf(exec.env).map(objectOf).map(({ name, value }) => [name, value]);
  const info = JSON.stringify(infoOf({ exec, cluster, interactive }));
  let output: Deno.CommandOutput;
  try {
    output = await new Deno.Command(command, {
      args: listOf(exec.args).map(String),
      env: { ...Object.fromEntries(variables), KUBERNETES_EXEC_INFO: info },
      stdin: interactive ? "inherit" : "null",
      stderr: "inherit",
    }).output();
  } catch (error) {
    const state = error instanceof Deno.errors.NotFound
      ? "is not there"
      : `can't be started: ${(error as Error).message}`;
    const hint = textOf(exec.installHint) ?? "install it, or correct its path in the kubeconfig";
    throw loginFailed(user, `${name} ${state}; ${hint.trim()}`);
  }
  if (output.code !== 0) throw loginFailed(user, `${name} ended with exit code ${output.code}`);
  const credential = credentialOf(new TextDecoder().decode(output.stdout));
  if (credential === undefined) throw loginFailed(user, `${name} printed no ExecCredential`);
  return credential;
}

/** The status of an ExecCredential with a token, or with a certificate and its key. */
function credentialOf(output: string): JSONObject | undefined {
  try {
    const status = objectOf(objectOf(JSON.parse(output)).status);
    const { token, clientCertificateData: cert, clientKeyData: key } = status;
    const isPair = (textOf(cert) === undefined) === (textOf(key) === undefined);
    return isPair && (textOf(token) ?? textOf(cert)) !== undefined ? status : undefined;
  } catch {
    return undefined;
  }
}

/** The object that a plugin reads from `KUBERNETES_EXEC_INFO`. */
function infoOf(
  { exec, cluster, interactive }:
    & Omit<CredentialPlugin, "inIsTerminal">
    & { readonly interactive: boolean },
): JSONObject {
  const { "certificate-authority": file, extensions, ...fields } = cluster;
  const config = listOf(extensions).map(objectOf)
    .find(({ name }) => name === "client.authentication.k8s.io/exec")?.extension;
  const path = textOf(file);
  const authority = path && { "certificate-authority-data": Deno.readFileSync(path).toBase64() };
  const described = { ...fields, ...authority, ...defined({ config }) };
  const spec = { interactive, ...(exec.provideClusterInfo === true ? { cluster: described } : {}) };
  return { kind: "ExecCredential", apiVersion: exec.apiVersion, spec };
}
