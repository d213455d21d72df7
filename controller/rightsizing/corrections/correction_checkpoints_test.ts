import assert from "node:assert/strict";
import { sealText } from "../../../shared/rightsizing/sealed_text.ts";
import { readCorrections, writeCorrections } from "./correction_checkpoints.ts";
import { createCorrectionMemory } from "./correction_memory.ts";
import type { SeenKill } from "./oom_memory.ts";
import type { Look } from "./throttle_memory.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const NOW_MS = Date.UTC(2026, 0, 2);
const WEB = "Deployment/shop/web";
const KILL: SeenKill = { pod: "uid-1", container: "app", atMs: NOW_MS - 5000, hadBytes: 1 << 27 };
const LOOKS: readonly Look[] = [
  { atMs: NOW_MS - 600_000, wanted: new Map([["app", 250]]) },
  { atMs: NOW_MS - 300_000, wanted: new Map() },
];

function read(name: string, data: Readonly<Record<string, string>>, nowMs = NOW_MS) {
  return readCorrections({ name, data }, { nowMs });
}

test("readCorrections() reads what was written, each namespace apart", () => {
  const memory = createCorrectionMemory();
  const unlimited: SeenKill = { ...KILL, container: "log", hadBytes: 0, unlimited: true };
  memory.oom.restore(WEB, [KILL, unlimited]);
  memory.throttle.restore(WEB, LOOKS);
  memory.throttle.restore("StatefulSet/bank/db", LOOKS);
  const written = writeCorrections(memory, { prefix: "seen-" });
  assert.deepEqual([...written.keys()], ["shop", "bank"]);
  const { checkpoint, leftOut } = written.get("shop") ?? assert.fail();
  assert.deepEqual([checkpoint.name, leftOut], ["seen-shop", 0]);
  assert.deepEqual(read(checkpoint.name, checkpoint.data), {
    namespace: "shop",
    kills: new Map([[WEB, [KILL, unlimited]]]),
    looks: new Map([[WEB, LOOKS]]),
  });
  const bank = written.get("bank")?.checkpoint ?? assert.fail();
  const other = read(bank.name, bank.data);
  assert.ok(!("fault" in other));
  assert.deepEqual(other.looks, new Map([["StatefulSet/bank/db", LOOKS]]));
});

test("writeCorrections() has nothing to keep where nothing was seen", () => {
  assert.equal(writeCorrections(createCorrectionMemory(), { prefix: "seen-" }).size, 0);
});

test("writeCorrections() keeps the latest kills of a workload that has very many", () => {
  const memory = createCorrectionMemory();
  const kills = Array.from({ length: 300 }, (_, index) => ({ ...KILL, atMs: index }));
  memory.oom.restore(WEB, kills);
  const { checkpoint } = writeCorrections(memory, { prefix: "" }).get("shop") ?? assert.fail();
  const found = read(checkpoint.name, checkpoint.data);
  assert.ok(!("fault" in found));
  const times = found.kills.get(WEB)?.map(({ atMs }) => atMs) ?? [];
  assert.deepEqual([times.length, Math.min(...times), Math.max(...times)], [200, 100, 299]);
});

test("writeCorrections() leaves out the longest where not all of a namespace fit", () => {
  const memory = createCorrectionMemory();
  for (let index = 0; index < 20; index++) memory.oom.restore(`${WEB}-${index}`, [KILL]);
  memory.oom.restore(WEB, Array.from({ length: 100 }, (_, atMs) => ({ ...KILL, atMs })));
  const mostBytes = 4000;
  const one = writeCorrections(memory, { prefix: "", mostBytes }).get("shop") ?? assert.fail();
  assert.equal(one.leftOut, 1);
  assert.ok((one.checkpoint.data["seen"]?.length ?? Infinity) < mostBytes + 100);
  const found = read(one.checkpoint.name, one.checkpoint.data);
  assert.ok(!("fault" in found));
  assert.equal(found.kills.size, 20);
  assert.equal(found.kills.has(WEB), false);
});

test("readCorrections() says why it can't read another version, or what is damaged", () => {
  const fault = (seen?: string): string => {
    const found = read("seen-shop", seen === undefined ? {} : { seen });
    assert.ok("fault" in found);
    return found.fault;
  };
  const body = '{"namespace":"shop","workloads":{}}';
  assert.ok(!("fault" in read("seen-shop", { seen: sealText(body, 1) })));
  assert.match(fault(sealText(body, 2)), /corrections: .*version .*2, .*1$/);
  assert.match(fault(sealText(body, 1).replace("shop", "shoq")), /check sum/);
  assert.match(fault(), /corrections: .*version$/);
  assert.match(fault(sealText('{"namespace":"shop"}', 1)), /workloads/);
  assert.match(fault(sealText("no JSON", 1)), /JSON/);
  const looks = { containers: ["app"], text: "AAAA" };
  const odd = { namespace: "shop", workloads: { "Deployment/web": { kills: [], looks } } };
  assert.match(fault(sealText(JSON.stringify(odd), 1)), /Cannot read/);
});

test("readCorrections() knows no looks of the future", () => {
  const memory = createCorrectionMemory();
  memory.throttle.restore(WEB, LOOKS);
  const { checkpoint } = writeCorrections(memory, { prefix: "" }).get("shop") ?? assert.fail();
  const found = read(checkpoint.name, checkpoint.data, NOW_MS - 400_000);
  assert.ok(!("fault" in found));
  assert.deepEqual(found.looks.get(WEB)?.map(({ atMs }) => atMs - NOW_MS), [-600_000, -400_000]);
});
