import { createUsageAnswers } from "../../lab/simulation/metric_answers.ts";
import { SCENE_WORKLOAD, sceneMoments, usesAt } from "./support/usage_scene.ts";
import { usageSourceContract } from "./usage_source_contract.ts";

const END_MS = Date.UTC(2026, 0, 1);

usageSourceContract("createUsageAnswers()", () => {
  const subject = createUsageAnswers();
  for (const timeMs of sceneMoments(END_MS)) {
    for (const { namespace, uid, container, millicores, bytes } of usesAt(timeMs, END_MS)) {
      if (uid !== SCENE_WORKLOAD.uid) continue;
      const reported = subject.of({ namespace, ...SCENE_WORKLOAD }, container);
      reported.cpu.push([timeMs, millicores]);
      reported.memory.push([timeMs, bytes]);
    }
  }
  return {
    subject,
    endMs: END_MS,
    stop: () => {
      subject.problem = { problem: "unreachable", message: "connection refused" };
      return Promise.resolve();
    },
  };
});
