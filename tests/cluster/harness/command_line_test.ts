import assert from "node:assert/strict";
import { parseCommand } from "./command_line.ts";

const parse = (...args: string[]) => parseCommand(args, { name: "coallocator" });

Deno.test("parseCommand() hands on what follows exec, flags included", () => {
  const command = ["kubectl", "get", "pods", "-A", "--name", "x"];
  const wanted = { action: "exec", name: "coallocator", command };
  assert.deepEqual(parse("exec", "--", ...command), wanted);
  assert.deepEqual(parse("exec", ...command), wanted);
  assert.deepEqual(parse("exec", "--name", "two", "--", ...command), { ...wanted, name: "two" });
  const inner = ["kubectl", "exec", "p", "--", "ls"];
  assert.deepEqual(parse("exec", "--", ...inner), { ...wanted, command: inner });
});

Deno.test("parseCommand() reads each action with its options", () => {
  const name = "coallocator";
  assert.deepEqual(parse("up"), {
    action: "up",
    name,
    cpuManager: undefined,
    cpuQuota: undefined,
    inside: false,
  });
  assert.deepEqual(parse("up", "--cpu-manager", "static", "--cpu-quota", "off", "--name", "b"), {
    action: "up",
    name: "b",
    cpuManager: "static",
    cpuQuota: "off",
    inside: false,
  });
  assert.deepEqual(parse("binaries"), { action: "binaries" });
  assert.deepEqual(parse("down"), { action: "down", name });
  assert.deepEqual(parse("status", "--json"), { action: "status", name, json: true });
  assert.deepEqual(parse("load-image", "a.tar", "b.tar"), {
    action: "load-image",
    name,
    files: ["a.tar", "b.tar"],
  });
  for (const action of ["stop-component", "start-component"]) {
    assert.deepEqual(parse(action, "etcd"), { action, name, component: "etcd" });
  }
});

Deno.test("parseCommand() answers help with exit code 0 and mistakes with 2", () => {
  for (const args of [["--help"], ["up", "--help"], ["help", "exec"]]) {
    const answer = parse(...args);
    assert.ok(answer.action === "text" && answer.exitCode === 0, args.join(" "));
    assert.match(answer.text, /^Usage: harness/);
  }
  for (const args of [[], ["go"], ["up", "--cpu-manager", "x"], ["exec"], ["down", "--all"]]) {
    const answer = parse(...args);
    assert.ok(answer.action === "text" && answer.exitCode === 2, args.join(" "));
    assert.ok(answer.text.length > 0);
  }
});
