/**
 * Credentials from a plugin: a program that a kubeconfig names, as cloud providers have them.
 * Source: Kubernetes documentation, "Authenticating", client-go credential plugins.
 *
 * Run here rather than by client-node, which hands the plugin no `KUBERNETES_EXEC_INFO` and asks for
 * the right to read the whole environment.
 *
 * @module
 */
import type { Clock } from "../../shared/clock.ts";
import { listOf, objectOf, textOf } from "./json_fields.ts";
import type { Login } from "./login.ts";

/** Runs the plugin, and again when its answer has expired or, with `refresh`, was refused. */
export type ExecPlugin = (options: { readonly refresh: boolean }) => Promise<Login>;

/** What a plugin needs. */
export interface ExecPluginOptions {
  readonly clock: Clock;
}

/**
 * The plugin of a user's `exec` entry. Throws a `TypeError` without a command; its calls throw an
 * `Error` with what the plugin said on its error output when it failed or gave no credentials.
 */
export function createExecPlugin(exec: unknown, { clock }: ExecPluginOptions): ExecPlugin {
  const { command, args, env, apiVersion, installHint } = objectOf(exec);
  const program = textOf(command);
  if (program === undefined) throw new TypeError("Cannot log in by plugin: exec.command is empty");
  const version = textOf(apiVersion) ?? "client.authentication.k8s.io/v1";
  const info = { kind: "ExecCredential", apiVersion: version, spec: { interactive: false } };
  const options: Deno.CommandOptions = {
    args: listOf(args).map(String),
    env: {
      KUBERNETES_EXEC_INFO: JSON.stringify(info),
      ...Object.fromEntries(
        listOf(env).map((one) => {
          const { name, value } = objectOf(one);
          return [String(name), String(value)];
        }),
      ),
    },
    stdin: "null",
  };
  let kept: { readonly login: Login; readonly expiresMs: number } | undefined;

  async function run(runnable: string): Promise<unknown> {
    let output: Deno.CommandOutput;
    try {
      output = await new Deno.Command(runnable, options).output();
    } catch (cause) {
      const hint = textOf(installHint);
      const remedy = hint === undefined ? "" : `: ${hint}`;
      throw new Error(`Cannot run the plugin "${runnable}"${remedy}`, { cause });
    }
    const text = new TextDecoder();
    if (!output.success) {
      const words = text.decode(output.stderr).trim();
      throw new Error(`Cannot log in: plugin "${runnable}" ended with ${output.code}: ${words}`);
    }
    try {
      return objectOf(JSON.parse(text.decode(output.stdout))).status;
    } catch {
      // The output may hold a token: it is not repeated, not even as the cause.
      throw new Error(`Cannot log in: plugin "${runnable}" answered no JSON`);
    }
  }

  return async ({ refresh }) => {
    if (kept !== undefined && !refresh && clock.wall() < kept.expiresMs) return kept.login;
    const { token, clientCertificateData, clientKeyData, expirationTimestamp } = objectOf(
      await run(program),
    );
    const bearer = textOf(token);
    const cert = textOf(clientCertificateData);
    const key = textOf(clientKeyData);
    if (bearer === undefined && (cert === undefined || key === undefined)) {
      throw new Error(`Cannot log in: plugin "${program}" gave neither token nor certificate`);
    }
    const login: Login = {
      headers: bearer === undefined ? {} : { authorization: `Bearer ${bearer}` },
      ...(cert === undefined || key === undefined ? {} : { certificate: { cert, key } }),
    };
    const expiresMs = Date.parse(textOf(expirationTimestamp) ?? "");
    kept = { login, expiresMs: Number.isNaN(expiresMs) ? Infinity : expiresMs };
    return login;
  };
}
