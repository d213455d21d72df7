/**
 * The proxy that environment variables name for a server.
 *
 * @module
 */
import { BlockList, isIP } from "node:net";

const PORTS: Readonly<Record<string, string>> = { "http:": "80", "https:": "443" };

/**
 * The proxy's address by `HTTPS_PROXY`, for plain HTTP `HTTP_PROXY`, and `NO_PROXY`; undefined for a
 * direct connection. The rules are those of Go's `golang.org/x/net/http/httpproxy`, which kubectl
 * follows: hosts with their subdomains, `.domain`, `*.domain`, addresses, CIDR blocks, all but blocks
 * with or without a port, and `*`; localhost is always direct. npm packages do not support CIDR blocks.
 */
export function environmentProxy(
  server: string,
  env: (name: string) => string | undefined,
): string | undefined {
  const url = URL.parse(server);
  const port = url === null ? undefined : PORTS[url.protocol];
  if (url === null || port === undefined) return undefined;
  const either = (name: string): string => env(name) || env(name.toLowerCase()) || "";
  const proxy = either(`${url.protocol.slice(0, -1).toUpperCase()}_PROXY`);
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
  if (proxy === "" || isLoopback(host)) return undefined;
  const target = { host, port: url.port || port };
  const isDirect = either("NO_PROXY").toLowerCase().split(/[\s,]+/).some((term) =>
    matches(term, target)
  );
  if (isDirect) return undefined;
  return proxy.includes("://") ? proxy : `http://${proxy}`;
}

function isLoopback(host: string): boolean {
  return host === "localhost" || isWithin("127.0.0.0/8", host) || isWithin("::1/128", host);
}

function matches(
  term: string,
  { host, port }: { readonly host: string; readonly port: string },
): boolean {
  if (term === "") return false;
  if (term === "*" || isWithin(term, host)) return true;
  const [, bracketed, plain = term, termPort = port] = isIP(term) > 0
    ? []
    : /^(?:\[(.*)\]|([^:]*))(?::(\d+))?$/.exec(term) ?? [];
  const name = (bracketed ?? plain).replace(/^\*(?=\.)/, "");
  if (termPort !== port) return false;
  if (isIP(host) > 0) return host === name;
  return name.startsWith(".")
    ? host.endsWith(name)
    : name !== "" && (host === name || host.endsWith(`.${name}`));
}

/** Whether the address is in the CIDR block; false for other texts. */
function isWithin(block: string, host: string): boolean {
  const [, network = "", prefix = ""] = /^([\d.a-f:]+)\/(\d{1,3})$/.exec(block) ?? [];
  const version = isIP(network);
  if (version === 0 || isIP(host) !== version || Number(prefix) > (version === 4 ? 32 : 128)) {
    return false;
  }
  const family = version === 4 ? "ipv4" : "ipv6";
  const list = new BlockList();
  list.addSubnet(network, Number(prefix), family);
  return list.check(host, family);
}
