import assert from "node:assert/strict";
import { environmentProxy } from "./environment_proxy.ts";

const PROXY = "http://proxy:3128";

/** The proxy of a server, of `https://api.example.com:6443` by default. */
function proxyOf(
  variables: Readonly<Record<string, string>>,
  server = "https://api.example.com:6443",
): string | undefined {
  return environmentProxy(server, (name) => variables[name]);
}

Deno.test("environmentProxy() reads the variable of the server's protocol", () => {
  const both = { HTTPS_PROXY: PROXY, HTTP_PROXY: "socks5://other" };
  assert.equal(proxyOf(both), PROXY);
  assert.equal(proxyOf(both, "http://api.example.com"), "socks5://other");
  assert.equal(proxyOf({ https_proxy: PROXY }), PROXY);
  assert.equal(proxyOf({ HTTPS_PROXY: "proxy:3128" }), PROXY);
  assert.equal(proxyOf({ HTTP_PROXY: PROXY }), undefined);
  assert.equal(proxyOf({}), undefined);
  assert.equal(proxyOf(both, "not an address"), undefined);
});

Deno.test("environmentProxy() connects directly to localhost", () => {
  for (const host of ["localhost", "127.0.0.1", "127.3.2.1", "[::1]"]) {
    assert.equal(proxyOf({ HTTPS_PROXY: PROXY }, `https://${host}:6443`), undefined, host);
  }
});

Deno.test("environmentProxy() connects directly where NO_PROXY matches", () => {
  const rows: readonly (readonly [terms: string, server: string, direct: boolean])[] = [
    ["example.com", "https://api.example.com:6443", true],
    ["EXAMPLE.com", "https://api.example.com:6443", true],
    ["example.com", "https://api.example.com.", true],
    ["example.com", "https://example.com", true],
    ["example.com", "https://badexample.com", false],
    [".example.com", "https://api.example.com", true],
    ["*.example.com", "https://api.example.com", true],
    [".example.com", "https://example.com", false],
    ["api.example.com:6443", "https://api.example.com:6443", true],
    ["api.example.com:443", "https://api.example.com", true],
    ["api.example.com:443", "https://api.example.com:6443", false],
    ["*", "https://api.example.com", true],
    ["one, 10.1.2.3", "https://10.1.2.3:6443", true],
    ["2.3", "https://10.1.2.3:6443", false],
    ["10.1.2.3:6443", "https://10.1.2.3:6443", true],
    ["10.1.2.3:443", "https://10.1.2.3:6443", false],
    ["10.0.0.0/8", "https://10.1.2.3:6443", true],
    ["10.0.0.0/8", "https://11.1.2.3:6443", false],
    ["10.0.0.0/99", "https://10.1.2.3:6443", false],
    ["10.0.0.0/8", "https://[fd00::1]:6443", false],
    ["fd00::/8", "https://[fd00::1]:6443", true],
    ["fd00::1", "https://[fd00::1]:6443", true],
    ["[fd00::1]:6443", "https://[fd00::1]:6443", true],
    ["[fd00::1]:443", "https://[fd00::1]:6443", false],
    [" ,", "https://api.example.com", false],
  ];
  for (const [NO_PROXY, server, direct] of rows) {
    const expected = direct ? undefined : PROXY;
    assert.equal(proxyOf({ HTTPS_PROXY: PROXY, NO_PROXY }, server), expected, NO_PROXY + server);
  }
  assert.equal(proxyOf({ HTTPS_PROXY: PROXY, no_proxy: "example.com" }), undefined);
});
