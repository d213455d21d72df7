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
  /** Adds headers, certificates and an agent. */
  applyToHTTPSOptions(options: RequestOptions): Promise<void>;
}

/** An entry of `users`. */
export interface User {
  readonly name: string;
  readonly exec?: { readonly command?: string; readonly installHint?: string };
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

/** The content of a file, or of base64. */
export function bufferFromFileOrString(file?: string, data?: string): Uint8Array | null;
