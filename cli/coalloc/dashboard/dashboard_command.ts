/**
 * `dashboard`: forwards a local port to the dashboard, and opens it in the browser.
 *
 * @module
 */
import { Command, InvalidArgumentError } from "commander";
import { untilAborted } from "../../../shared/control/time_limit.ts";
import { userAgent } from "../../../shared/version.ts";
import { LIST_CONTROLLERS } from "../../../shared/installation.ts";
import { examples } from "../global_flags.ts";
import { type CommandContext, CommandProblem, type DashboardAccess } from "../ports.ts";

/** Longest wait for the controller's first answer, ms. */
const TIMEOUT_MS = 10_000;

const HEADERS = { "user-agent": userAgent("kubectl") };

/** The flags of `dashboard`. */
export interface DashboardRequest {
  /** The local port; 0: a free one. */
  readonly port: number;
  /** False: the address is printed only. */
  readonly open: boolean;
}

/** The command line. */
export function dashboardArguments(): Command {
  return new Command("dashboard").summary("open the dashboard in the browser").description(
    "Forwards a local port to the dashboard of the controller, and opens it in the browser, until\n" +
      "Ctrl-C. The dashboard shows what the kubeconfig's user may list. A user without a token, with a\n" +
      "client certificate for instance, gets one of the ServiceAccount mbcas-dashboard, if permitted.",
  )
    .option("--port <number>", "the local port; 0: a free one", portOf, 0)
    .option("--no-open", "print the address only")
    .addHelpText(...examples([
      ["kubectl coalloc dashboard", "open it"],
      ["kubectl coalloc dashboard --no-open --port 8082", "for a browser elsewhere"],
    ]));
}

function portOf(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new InvalidArgumentError("Give a number from 0 to 65535");
}

/** Serves until the user ends it. Resolves with the exit code; throws if there is no dashboard. */
export async function dashboardCommand(
  { port, open }: DashboardRequest,
  { cluster: { dashboard }, world }: CommandContext,
): Promise<number> {
  const { signal } = world;
  await dashboard.token();
  const tunnel = await dashboard.tunnel();
  try {
    await checkTarget(tunnel.address, signal);
    if (signal.aborted) return 0;
    const key = crypto.randomUUID();
    // Only this command needs a server and its packages.
    const { serveHTTP } = await import("../../../adapters/program_server.ts");
    const proxy = dashboardProxy({ target: tunnel.address, token: dashboard.token, key });
    const server = serveHTTP(proxy, { address: `127.0.0.1:${port}` });
    const url = `http://${server.address}/?key=${key}`;
    world.out(`Dashboard: ${url}\nThe address works once, in one browser. Ctrl-C ends it.\n`);
    if (open) world.browse(url);
    await untilAborted(signal);
    // First, since streams of updates end with the tunnel.
    await tunnel.close();
    await server.shutdown();
    return 0;
  } finally {
    await tunnel.close();
  }
}

async function checkTarget(address: string, signal: AbortSignal): Promise<void> {
  try {
    const response = await fetch(`http://${address}/login`, {
      headers: HEADERS,
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    await response.body?.cancel();
  } catch (cause) {
    if (signal.aborted) return;
    throw new CommandProblem(
      "Cannot open the dashboard: no controller answers on its port; is one ready, and " +
        `dashboard.enabled on? ${LIST_CONTROLLERS}`,
      { cause },
    );
  }
}

const COOKIE = "coallocator-session";

const OTHER_BROWSER =
  "This browser has not opened the printed address first, or it was opened by another browser: end " +
  "kubectl coalloc dashboard, and run it again\n";

/**
 * Handles requests of a local server in front of the dashboard: adds the user's token, which the browser never
 * has, and answers one browser only.
 */
function dashboardProxy(
  { target, token, key }: {
    /** `host:port` of the dashboard. */
    readonly target: string;
    readonly token: DashboardAccess["token"];
    /** Opens the session of the first request that has it. */
    readonly key: string;
  },
): { fetch(request: Request): Promise<Response> } {
  const session = crypto.randomUUID();
  let isOpened = false;
  return {
    async fetch(request) {
      const { hostname, pathname, search, searchParams } = new URL(request.url);
      // DNS rebinding: a page of another host with a name that resolves to this one.
      if (hostname !== "127.0.0.1") return new Response("Unknown host\n", { status: 403 });
      if (!isOpened && searchParams.get("key") === key) {
        isOpened = true;
        return sessionRedirect(session);
      }
      const cookies = request.headers.get("cookie")?.split("; ") ?? [];
      if (!cookies.includes(`${COOKIE}=${session}`)) {
        return new Response(OTHER_BROWSER, { status: 403 });
      }
      if (request.method !== "GET") return new Response("Read only\n", { status: 405 });
      try {
        return await fetch(`http://${target}${pathname}${search}`, {
          redirect: "manual",
          headers: {
            ...HEADERS,
            authorization: `Bearer ${await token()}`,
            "accept-encoding": "identity",
          },
        });
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        return new Response(`Cannot reach the dashboard: ${reason}\n`, { status: 502 });
      }
    },
  };
}

/** Redirects by a page of the same site, so that the browser sends its cookie, whatever program opened it. */
function sessionRedirect(session: string): Response {
  return new Response('<!doctype html><meta http-equiv="refresh" content="0;url=/">', {
    headers: {
      "content-type": "text/html",
      "referrer-policy": "no-referrer",
      "set-cookie": `${COOKIE}=${session}; Path=/; HttpOnly; SameSite=Strict`,
    },
  });
}
