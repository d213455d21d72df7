/**
 * The part of client-node that this project uses. The package's types import another version of Node's,
 * with which TypeScript does not finish some of our tests.
 *
 * @module
 */
import type { RequestOptions } from "node:https";
import type { Readable, Writable } from "node:stream";

/** A kubeconfig. */
export class KubeConfig {
  loadFromString(text: string): void;
  getCurrentUser(): User | null;
  /** Adds a login for users with which no login of the package is concerned. */
  addAuthenticator(authenticator: Authenticator): void;
  /** Adds headers, certificates and an agent. */
  applyToHTTPSOptions(options: RequestOptions): Promise<void>;
}

/** An entry of `users`. */
export interface User {
  readonly name: string;
}

/** A login. */
export interface Authenticator {
  isAuthProvider(user: User): boolean;
  /** Adds headers, or a certificate and its key. */
  applyAuthentication(user: User, options: RequestOptions): Promise<void>;
}

/** Forwards a port of a pod. */
export class PortForward {
  constructor(config: KubeConfig);
  portForward(
    namespace: string,
    pod: string,
    ports: readonly number[],
    output: Writable,
    errors: Writable,
    input: Readable,
  ): Promise<{ onclose: () => void; terminate(): void }>;
}
