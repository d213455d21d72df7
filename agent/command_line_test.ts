import assert from "node:assert/strict";
import { parseCommandLine } from "./command_line.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function refusal(args: readonly string[]): string {
  const request = parseCommandLine(args);
  assert.ok("exitCode" in request, `${args} was accepted`);
  assert.equal(request.exitCode, 2);
  return request.text;
}

test("parseCommandLine() fills in the defaults", () => {
  const config = { cgroupRoot: "/host/cgroup", intervalMs: 250, json: false };
  assert.deepEqual(parseCommandLine([]), { config });
  assert.deepEqual(parseCommandLine(["--once"]), { config });
});

test("parseCommandLine() takes every flag", () => {
  const args = ["--once", "--cgroup-root", "/mnt/x//", "--interval", "1.5s", "--cores=4", "--json"];
  assert.deepEqual(parseCommandLine(args), {
    config: { cgroupRoot: "/mnt/x", intervalMs: 1500, cores: 4, json: true },
  });
  assert.deepEqual(parseCommandLine(["--cgroup-root", "/", "--interval", "1m"]), {
    config: { cgroupRoot: "/", intervalMs: 60_000, json: false },
  });
});

test("parseCommandLine() passes over one -- at the start, and only there", () => {
  const args = ["--once", "--cgroup-root", "/mnt/x", "--json"];
  assert.deepEqual(parseCommandLine(["--", ...args]), parseCommandLine(args));
  assert.deepEqual(parseCommandLine(["--"]), parseCommandLine([]));
  assert.match(refusal(["--", "--", "--once"]), /too many arguments/);
  assert.match(refusal(["--once", "--", "--json"]), /too many arguments/);
});

test("parseCommandLine() words every refusal alike, in one line", () => {
  assert.equal(
    refusal(["--bogus"]),
    "Cannot run the agent: unknown option '--bogus'; see deno task agent --help\n",
  );
  assert.equal(
    refusal(["--cores", "0"]),
    'Cannot run the agent: --cores "0" is not a whole number from 1 to 8192; ' +
      "see deno task agent --help\n",
  );
  const wrong = [["--onze"], ["--interval", "1"], ["--interval", "1ms"], ["--cgroup-root", ""]];
  for (const args of [...wrong, ["now"], ["--cores"]]) {
    assert.match(refusal(args), /^Cannot run the agent: [^\n]*; see deno task agent --help\n$/);
  }
});

test("parseCommandLine() explains itself", () => {
  const request = parseCommandLine(["--help"]);
  assert.ok("exitCode" in request);
  assert.equal(request.exitCode, 0);
  for (const flag of ["--once", "--cgroup-root", "--interval", "--cores", "--json"]) {
    assert.ok(request.text.includes(flag), flag);
  }
});

test("parseCommandLine() names flag and value of what it refuses", () => {
  assert.match(refusal(["--interval", "250"]), /--interval "250" is not a duration/);
  assert.match(refusal(["--interval", "-1s"]), /--interval "-1s"/);
  assert.match(refusal(["--interval", "9ms"]), /--interval 9ms is not between/);
  assert.match(refusal(["--interval", "61s"]), /--interval 61s is not between/);
  assert.match(refusal(["--cores", "0"]), /--cores "0"/);
  assert.match(refusal(["--cores", "1e2"]), /--cores "1e2"/);
  assert.match(refusal(["--cgroup-root", ""]), /--cgroup-root is empty/);
  assert.match(refusal(["--verbose"]), /unknown option '--verbose'/);
  assert.match(refusal(["now"]), /too many arguments/);
  assert.match(refusal(["--interval"]), /argument missing/);
});
