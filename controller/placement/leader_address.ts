/**
 * The name under which a replica holds the Lease, with the address where the others ask it.
 *
 * @module
 */

/** Between a name and an address: no name of a pod has it, and no address. */
const MARK = "@";

/** `controller-0-1a2b3c4d` at `10.0.0.2:9444`. */
export function addressedIdentity(identity: string, address: string): string {
  return `${identity}${MARK}${address}`;
}

/** Where a replica with this IP address is asked that listens as the setting says, `:9444`. */
export function peerAddress(ip: string, listen: string): string {
  return `${ip.includes(":") ? `[${ip}]` : ip}${listen.slice(listen.lastIndexOf(":"))}`;
}

/** The address in a holder's name; undefined where it has none, as replicas that place no pods. */
export function addressOfHolder(holder: string): string | undefined {
  const [, ...rest] = holder.split(MARK);
  const address = rest.join(MARK);
  return /^(\[[0-9a-fA-F:.]{2,45}\]|[0-9A-Za-z.-]{1,253}):\d{1,5}$/.test(address)
    ? address
    : undefined;
}
