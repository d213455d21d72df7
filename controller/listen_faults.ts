/**
 * Addresses of the controller's servers that can't stand together.
 *
 * @module
 */

import { parseAddress } from "../adapters/listen_address.ts";

/** The settings that are looked at. */
export interface CheckedAddresses {
  readonly listen: string;
  readonly webhook: boolean;
  readonly webhookListen: string;
  readonly placement: boolean;
  readonly peerListen: string;
}

/** Hosts that stand for all. */
const ANY_HOST = ["0.0.0.0", "::"];

/** A sentence for each two servers of one port, as the second would try in vain to open it for ever. */
export function listenFaults(settings: CheckedAddresses): readonly string[] {
  const servers = [
    { key: "controller.listen", address: settings.listen },
    ...(settings.webhook ? [{ key: "webhook.listen", address: settings.webhookListen }] : []),
    ...(settings.webhook && settings.placement
      ? [{ key: "placement.peerListen", address: settings.peerListen }]
      : []),
  ];
  return servers.flatMap((one, index) =>
    servers.slice(index + 1).filter(({ address }) => areSame(one.address, address))
      .map(({ key, address }) =>
        `${one.key} is ${one.address} and ${key} is ${address}: give each a port of its own`
      )
  );
}

function areSame(a: string, b: string): boolean {
  const [one, other] = [parseAddress(a), parseAddress(b)];
  const isOneHost = one.hostname === other.hostname ||
    ANY_HOST.includes(one.hostname) || ANY_HOST.includes(other.hostname);
  // Port 0 is a free one.
  return one.port === other.port && one.port !== 0 && isOneHost;
}
