import assert from "node:assert/strict";
import { readShippedTrace, readTraceFile, SHIPPED_TRACES } from "./trace_files.ts";

const read = { read: [new URL("traces/", import.meta.url)] };

Deno.test({
  name: "readShippedTrace() reads every trace that comes with the project",
  permissions: read,
  async fn() {
    const sizes = new Map<string, number>();
    for (const name of SHIPPED_TRACES) {
      const trace = await readShippedTrace(name);
      sizes.set(name, trace.values.length);
      assert.equal(trace.stepS, name.startsWith("crane") ? 60 : 1);
    }
    assert.deepEqual(Object.fromEntries(sizes), {
      diurnal: 3600,
      bursty: 3600,
      "azure-code": 3437,
      crane0: 11520,
      crane1: 23040,
      crane2: 23040,
      crane3: 23040,
      crane4: 21600,
      crane5: 23040,
    });
    const first = await readShippedTrace("crane0");
    assert.equal(first.values[0], 39.72233);
    const { values, arrivalsMs } = await readShippedTrace("azure-code");
    assert.equal(arrivalsMs?.length, 8819);
    assert.equal(values.reduce((a, b) => a + b, 0), 8819);
    // 18:17:03.97996 is its first request; a double of seconds since 1970 resolves 0.24 µs.
    assert.ok(Math.abs((arrivalsMs?.[0] ?? 0) - 979.96) < 1e-3);
  },
});

Deno.test({
  name: "readTraceFile() recognizes gzip by its first bytes and refuses damage with the path",
  async fn() {
    const path = await Deno.makeTempFile();
    try {
      await Deno.writeTextFile(path, "1\n2\n");
      assert.deepEqual([...(await readTraceFile(path, "rps")).trace.values], [1, 2]);
      const zipped = new Blob(["3\n4\n"]).stream().pipeThrough(new CompressionStream("gzip"));
      const bytes = new Uint8Array(await new Response(zipped).arrayBuffer());
      await Deno.writeFile(path, bytes);
      assert.deepEqual([...(await readTraceFile(path, "rps")).trace.values], [3, 4]);
      await Deno.writeFile(path, bytes.subarray(0, 12));
      await assert.rejects(readTraceFile(path, "rps"), /damaged gzip file/);
      await Deno.writeFile(path, new Uint8Array([0xff, 0xfe, 0x00]));
      await assert.rejects(readTraceFile(path, "rps"), /not UTF-8 text/);
      await Deno.writeTextFile(path, "1\nx\n");
      await assert.rejects(readTraceFile(path, "rps"), new RegExp(`"${path}": line 2 is "x"`));
    } finally {
      await Deno.remove(path);
    }
  },
});

Deno.test({
  name: "readTraceFile() returns the recognized format where none is given",
  async fn() {
    const path = await Deno.makeTempFile();
    try {
      await Deno.writeTextFile(path, "1,200\n4,200\n");
      const { format, guess } = await readTraceFile(path);
      assert.equal(format, "cores");
      assert.match(guess ?? "", new RegExp(`"${path}" .*cores.*--format`));
      assert.equal((await readTraceFile(path, "arrivals")).guess, undefined);
      await Deno.writeTextFile(path, "1,200\n1.5,200\n");
      await assert.rejects(readTraceFile(path), /--format arrivals .*\(read as cores;/);
    } finally {
      await Deno.remove(path);
    }
  },
});
