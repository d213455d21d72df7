/**
 * What is used of client-node. Its own types bring another version of Node's along, with which
 * TypeScript does not come to an end in some of our tests.
 *
 * @module
 */
import type { RequestOptions } from "node:https";
import type { Readable, Writable } from "node:stream";

/** An entry of `clusters`; paths are absolute, data are base64. */
export interface Cluster {
  readonly name: string;
  readonly server: string;
  readonly caData?: string;
  readonly caFile?: string;
  readonly skipTLSVerify: boolean;
}

/** An entry of `users`. */
export interface User {
  readonly name: string;
  readonly token?: string;
  readonly exec?: { readonly command?: string; readonly installHint?: string };
}

/** An entry of `contexts`. */
export interface Context {
  readonly name: string;
  readonly cluster: string;
  readonly user?: string;
  readonly namespace?: string;
}

/** A kubeconfig. */
export class KubeConfig {
  clusters: readonly Cluster[];
  users: readonly User[];
  contexts: readonly Context[];
  currentContext: string | undefined;
  loadFromString(text: string): void;
  loadFromClusterAndUser(cluster: Cluster, user: User): void;
  makePathsAbsolute(directory: string): void;
  getCurrentUser(): User | null;
  /** Adds headers, certificates and an agent. */
  applyToHTTPSOptions(options: RequestOptions): Promise<void>;
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
  ): Promise<ForwardSocket>;
}

/** The WebSocket of a forward. */
export interface ForwardSocket {
  onclose: () => void;
  terminate(): void;
}

/** The content of a file, or of base64. */
export function bufferFromFileOrString(file?: string, data?: string): Uint8Array | null;
