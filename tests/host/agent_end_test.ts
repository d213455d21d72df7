import assert from "node:assert/strict";
import { BENCH_NODE, startAgentAPI } from "../../lab/bench/agent/api.ts";

/** A version 1 hierarchy without pods. */
async function emptyHierarchy(): Promise<string> {
  const root = await Deno.makeTempDir({ prefix: "agent-end-" });
  for (const folder of ["cpuset", "cpu/kubepods", "cpuacct/kubepods"]) {
    await Deno.mkdir(`${root}/${folder}`, { recursive: true });
  }
  for (
    const [file, text] of [
      ["cpuset/cpuset.effective_cpus", "0-3\n"],
      ["cpu/kubepods/cpu.stat", "nr_periods 1\nnr_throttled 1\nthrottled_time 7\n"],
      ["cpu/kubepods/cpu.shares", "512\n"],
      ["cpuacct/kubepods/cpuacct.usage", "1\n"],
    ] as const
  ) await Deno.writeTextFile(`${root}/${file}`, text);
  return root;
}

/** The line of the log that has the address. */
const STARTED = /"message":"Agent started".*"listen":"([^"]+)"/;

Deno.test("the agent ends in time and well at SIGTERM while a client does not read", async () => {
  await using api = await startAgentAPI({ allocations: [], allocatable: 4000, onDesired() {} });
  const root = await emptyHierarchy();
  const agent = new URL("../../agent/main.ts", import.meta.url).pathname;
  const paths = ["--kubeconfig", api.kubeconfig, "--cgroup-root", root];
  const args = [...paths, "--node-name", BENCH_NODE, "--listen", "127.0.0.1:0"];
  await using child = new Deno.Command("sh", {
    args: ["-c", 'exec "$0" "$@"', Deno.execPath(), "run", "-qA", "--no-check", agent, ...args],
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  let log = "";
  for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
    log += text;
    const [, address] = STARTED.exec(log) ?? [];
    if (address === undefined) continue;
    const { hostname, port } = new URL(`http://${address}`);
    using client = await Deno.connect({ hostname, port: Number(port) });
    const requests = "GET /metrics HTTP/1.1\r\nhost: a\r\n\r\n".repeat(2000);
    // More answers than buffers hold: the agent stops reading, and this write does not end.
    client.write(new TextEncoder().encode(requests)).catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const late = setTimeout(() => child.kill("SIGKILL"), 8000);
    child.kill("SIGTERM");
    const { code, signal } = await child.status;
    clearTimeout(late);
    assert.deepEqual([code, signal], [0, null]);
    break;
  }
  await Deno.remove(root, { recursive: true });
  assert.match(log, STARTED);
});
