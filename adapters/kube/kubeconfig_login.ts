/**
 * A kubeconfig's user as requests carry it: certificate, token, token file, password or plugin.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import type { Clock } from "../../shared/clock.ts";
import { createExecPlugin } from "./exec_plugin.ts";
import type { KubeconfigUser } from "./kubeconfig.ts";
import { objectOf, textOf } from "./json_fields.ts";
import type { Login } from "./login.ts";
import { createTokenReader } from "./token_file.ts";

/** Who asks, anew for each request; `refresh` passes over what is cached. */
export type LoginSource = (options: { readonly refresh: boolean }) => Promise<Login>;

/** What a source needs. */
export interface KubeconfigLoginOptions {
  readonly clock: Clock;
}

/** The login of `user`. Throws a `TypeError` for a way to log in that is not supported. */
export function createKubeconfigLogin(
  user: KubeconfigUser | undefined,
  { clock }: KubeconfigLoginOptions,
): LoginSource {
  if (user === undefined) return () => Promise.resolve({ headers: {} });
  const impersonation: Record<string, string> = user.impersonateUser
    ? { "impersonate-user": user.impersonateUser }
    : {};
  const authorization = authorizationOf(user, clock);
  return async (how) => {
    const { headers, certificate } = await authorization(how);
    const own = certificate ?? await certificateOf(user);
    return {
      headers: { ...impersonation, ...headers },
      ...(own === undefined ? {} : { certificate: own }),
    };
  };
}

function authorizationOf(user: KubeconfigUser, clock: Clock): LoginSource {
  const { token, tokenFile, username, password } = user;
  if (user.exec) return createExecPlugin(user.exec, { clock });
  if (user.authProvider) {
    throw new TypeError(
      `Cannot log in as user "${user.name}": auth-provider "${
        textOf(objectOf(user.authProvider).name)
      }" is not ` +
        "supported, use an exec plugin (kubectl oidc-login for OIDC) or a token",
    );
  }
  if (tokenFile) {
    const read = createTokenReader(tokenFile, { clock });
    return async (how) => ({ headers: { authorization: `Bearer ${await read(how)}` } });
  }
  if (token) return fixed({ authorization: `Bearer ${token.trim()}` });
  if (username) {
    const words = Buffer.from(`${username}:${password ?? ""}`).toString("base64");
    return fixed({ authorization: `Basic ${words}` });
  }
  return fixed({});
}

function fixed(headers: Record<string, string>): LoginSource {
  return () => Promise.resolve({ headers });
}

/** PEM of a certificate and its key, from the kubeconfig or from files beside it. */
async function certificateOf(user: KubeconfigUser): Promise<Login["certificate"] | undefined> {
  const [cert, key] = await Promise.all([
    pemOf(user.certData, user.certFile),
    pemOf(user.keyData, user.keyFile),
  ]);
  return cert === undefined || key === undefined ? undefined : { cert, key };
}

/** PEM text from base64 in the kubeconfig or from a file; undefined when there is neither. */
export async function pemOf(
  base64: string | undefined,
  file: string | undefined,
): Promise<string | undefined> {
  if (base64) return Buffer.from(base64, "base64").toString("utf8");
  return file ? await Deno.readTextFile(file) : undefined;
}
