/**
 * The address to listen on.
 *
 * @module
 */

/** An address in its parts. */
export interface ListenAddress {
  /** `0.0.0.0` where none was given. */
  readonly hostname: string;
  readonly port: number;
}

/** The parts of `host:port` or `:port`. Throws a `SyntaxError` that names any other text. */
export function parseAddress(address: string): ListenAddress {
  const [, host, digits] = /^(.*):(\d{1,5})$/.exec(address) ?? [];
  if (host === undefined || Number(digits) > 65_535) {
    throw new SyntaxError(
      `Cannot listen on "${address}": it is no address, expected for instance :8080`,
    );
  }
  return { hostname: host.replace(/^\[(.*)\]$/, "$1") || "0.0.0.0", port: Number(digits) };
}
