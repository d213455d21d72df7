/**
 * The user's browser.
 *
 * @module
 */

/** The program that opens a page, by operating system. */
const OPENERS: Readonly<Partial<Record<typeof Deno.build.os, readonly [string, ...string[]]>>> = {
  darwin: ["open"],
  windows: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** Opens a page; without a browser does nothing, as the command has printed the address. */
export function openInBrowser(url: string): void {
  const [program, ...args] = OPENERS[Deno.build.os] ?? ["xdg-open"];
  try {
    const command = new Deno.Command(program, {
      args: [...args, url],
      stdin: "null",
      stdout: "null",
      stderr: "null",
    });
    command.spawn().unref();
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
