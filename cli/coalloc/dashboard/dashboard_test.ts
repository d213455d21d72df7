import assert from "node:assert/strict";
import { serveHTTP } from "../../../adapters/program_server.ts";
import { userAgent } from "../../../shared/version.ts";
import { sampleSite, TOKENS } from "../../../tests/fixtures/dashboard/sample_site.ts";
import type { CommandContext } from "../ports.ts";
import { dashboardCommand } from "./dashboard_command.ts";

/** The command's context beside a server at this address. */
const contextOf = (address: string, token: string, world: object): CommandContext =>
  ({
    cluster: {
      dashboard: {
        tunnel: () => ({ address, close: () => Promise.resolve() }),
        token: () => Promise.resolve(token),
      },
    },
    world,
  }) as unknown as CommandContext;

/** Runs the command against a served sample, and calls `use` with the address that it prints. */
async function whileOpen(
  token: string,
  use: (url: URL) => Promise<void>,
): Promise<{ readonly code: number; readonly browsed: readonly string[] }> {
  const { app } = sampleSite({ pods: 1 });
  const agents = new Set<string | null>();
  const server = serveHTTP({
    fetch(request) {
      agents.add(request.headers.get("user-agent"));
      return app.fetch(request);
    },
  }, { address: "127.0.0.1:0" });
  const stop = new AbortController();
  const printed = Promise.withResolvers<string>();
  const browsed: string[] = [];
  const browse = (url: string) => void browsed.push(url);
  const world = { signal: stop.signal, out: printed.resolve, browse };
  const context = contextOf(server.address, token, world);
  const running = dashboardCommand({ port: 0, open: true }, context);
  const [, url = ""] = /Dashboard: (\S+)/.exec(await printed.promise) ?? [];
  await use(new URL(url));
  stop.abort();
  const code = await running;
  await server.shutdown();
  assert.deepEqual([...agents], [userAgent("kubectl")]);
  return { code, browsed };
}

const text = async (response: Response): Promise<readonly [status: number, text: string]> => [
  response.status,
  await response.text(),
];

Deno.test("dashboardCommand() lets in the one browser that opens its address, with the user's token", async () => {
  let address = "";
  const { code, browsed } = await whileOpen(TOKENS.shop, async (url) => {
    address = url.href;
    const page = new URL("/pods", url);
    assert.equal((await text(await fetch(page)))[0], 403);
    const opened = await fetch(url);
    const cookie = opened.headers.get("set-cookie") ?? "";
    assert.match(cookie, /; Path=\/; HttpOnly; SameSite=Strict$/);
    assert.ok(!(await opened.text()).includes(TOKENS.shop) && !cookie.includes(TOKENS.shop));
    assert.equal((await text(await fetch(url)))[0], 403);

    const headers = { cookie: cookie.split(";")[0] ?? "" };
    const [status, body] = await text(await fetch(page, { headers }));
    assert.deepEqual([status, body.includes(TOKENS.shop)], [200, false]);
    assert.match(body, /1 pod, by throttled/);
    assert.equal((await text(await fetch(new URL("/", url), { headers })))[0], 403);
    assert.equal((await text(await fetch(page, { headers, method: "POST" })))[0], 405);
    const rebound = new URL(page);
    rebound.hostname = "localhost";
    assert.equal((await text(await fetch(rebound, { headers })))[0], 403);
  });
  assert.deepEqual([code, browsed], [0, [address]]);
});

Deno.test("dashboardCommand() ends while the controller does not answer", async () => {
  const [stop, answer] = [new AbortController(), Promise.withResolvers<Response>()];
  const silent = serveHTTP({
    fetch() {
      stop.abort();
      return answer.promise;
    },
  }, { address: "127.0.0.1:0" });
  const context = contextOf(silent.address, TOKENS.admin, { signal: stop.signal });
  const code = await dashboardCommand({ port: 0, open: true }, context);
  assert.equal(code, 0);
  answer.resolve(new Response());
  await silent.shutdown();
});
