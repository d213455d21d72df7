import { pure } from "../tests/fixtures/pure.ts";
import { createVirtualClock } from "../lab/simulation/virtual_clock.ts";
import { assertSentences, messageOf } from "../tests/fixtures/assert_sentences.ts";
import { createMemoryTree } from "../tests/fixtures/memory_tree.ts";
import { findLayout } from "./cgroup/layout.ts";
import { createWorkQueue } from "./control/work_queue.ts";
import { sentenceOf } from "./api/reasons/reasons.ts";
import { parseGoDuration } from "./duration.ts";
import { formatBytes, formatCPU, parseCPU } from "./quantity.ts";

function layoutOf(...directories: readonly string[]): string {
  const files = directories.map((directory) => [`${directory}/cpu.stat`, ""] as const);
  return findLayout(createMemoryTree(Object.fromEntries(files))).description;
}

pure("sentences of shared modules", () =>
  assertSentences([
    ["known reason", () => sentenceOf("OptedOut"), "the pod or its namespace opted out"],
    [
      "unknown reason",
      () => sentenceOf("NoSuchReason"),
      "a reason that this version does not know",
    ],
    [
      "negative quantity",
      () => messageOf(() => parseCPU("-1")),
      'Cannot parse CPU quantity: "-1" is negative, expected at least 0',
    ],
    [
      "fraction of a millicore",
      () => messageOf(() => formatCPU(0.5)),
      "Cannot format CPU quantity: 0.5 is not a whole number of millicores",
    ],
    [
      "fraction of a byte",
      () => messageOf(() => formatBytes(0.5)),
      "Cannot format memory quantity: 0.5 is not a whole number of bytes",
    ],
    [
      "duration",
      () => messageOf(() => parseGoDuration("1w")),
      'Cannot parse duration: "1w" is not a sum of numbers with a unit (ns, us, ms, s, m, h, ' +
      "d), for instance 90s, 1h30m or 7d",
    ],
    [
      "work not taken",
      () => messageOf(() => createWorkQueue(createVirtualClock({ wallStart: 0 })).done("a")),
      'Cannot end the work on "a": it was not handed out',
    ],
    [
      "cgroup v1",
      () => layoutOf("cpu/kubepods", "cpuacct/kubepods"),
      "cgroup v1, cpu and cpuacct apart, cgroupfs driver, pods under kubepods",
    ],
    [
      "cgroup v2",
      () => layoutOf("kubepods.slice"),
      "cgroup v2, systemd driver, pods under kubepods.slice",
    ],
    [
      "no layout",
      () => messageOf(() => layoutOf("cpu/docker/x", "cpuacct/docker/x")),
      "Cannot find the cgroups of pods: no directory is named kubepods, kubepods.slice or " +
      "*-kubepods.slice. Tried cgroup v1, cpu and cpuacct joined (not mounted); cgroup v1, " +
      "cpuacct and cpu joined (not mounted); cgroup v1, cpu and cpuacct apart (no pods' root, " +
      "directories searched: 3); cgroup v2 (no pods' root, directories searched: 1); cgroup v2 " +
      "under unified (not mounted). Is the cgroup root the host's /sys/fs/cgroup, and does a " +
      "kubelet run here?",
    ],
  ]));
