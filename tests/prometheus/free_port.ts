/**
 * A port for a server that a test starts.
 *
 * @module
 */

/** A port of the address without a listener now. */
export function freePort(hostname: string): number {
  using listener = Deno.listen({ hostname, port: 0 });
  return listener.addr.port;
}
