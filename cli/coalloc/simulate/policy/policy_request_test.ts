import assert from "node:assert/strict";
import { readCommandLine } from "../../command_line.ts";
import { asksForPolicy, type PolicyRequest, policyRequest } from "./policy_request.ts";

function flagsOf(line: string): Readonly<Record<string, unknown>> {
  const call = readCommandLine([
    "simulate",
    ...line.split(" ").filter((argument) => argument !== ""),
  ]);
  assert("flags" in call, JSON.stringify(call));
  return call.flags;
}

function asked(line: string): PolicyRequest | string {
  return policyRequest(flagsOf(line));
}

Deno.test({
  name: "asksForPolicy() is true for flags of a policy's replay alone",
  permissions: "none",
  fn() {
    assert.equal(asksForPolicy(flagsOf("--trace f --limit 2")), false);
    for (const line of ["--policy p", "--history h", "--resource memory"]) {
      assert.equal(asksForPolicy(flagsOf(line)), true, line);
    }
  },
});

Deno.test({
  name: "policyRequest() reads its flags, and takes CPU for granted",
  permissions: "none",
  fn() {
    assert.deepEqual(asked("--policy p.yaml --history -"), {
      policy: "p.yaml",
      source: { path: "-" },
      resource: "cpu",
      output: "table",
    });
    const line = "--policy p --history h --resource memory --format prometheus --series pod=a";
    assert.deepEqual(asked(`${line} -o yaml`), {
      policy: "p",
      source: { path: "h", format: "prometheus", series: new Map([["pod", "a"]]) },
      resource: "memory",
      output: "yaml",
    });
    assert.equal((asked(`${line} --json`) as PolicyRequest).output, "json");
  },
});

Deno.test({
  name: "policyRequest() says what is missing, and which flags do not go together",
  permissions: "none",
  fn() {
    const wrong: readonly (readonly [string, RegExp])[] = [
      ["--history h", /--history .*--resource .*--policy$/],
      ["--policy p", /--policy .*--history/],
      ["--policy p --history h --trace t", /--trace .*--policy$/],
      ["--policy p --history h --limit 2", /--limit .*--policy$/],
      ["--policy p --history h --html", /--html .*--policy$/],
      ["--policy p --history h --format cores --series a=b", /--series .*--format is cores/],
      ["--policy p --history h --json -o yaml", /--json .*--output /],
    ];
    for (const [line, message] of wrong) {
      const answer = asked(line);
      assert.match(String(answer), message);
      assert.match(String(answer), /^Cannot simulate: /);
    }
  },
});
