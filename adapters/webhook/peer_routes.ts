/**
 * The routes by which replicas of the webhook ask the one that counts pods.
 *
 * @module
 */
import { silentLog } from "../../shared/log.ts";
import {
  parsePlacementQuestion,
  type PlacementQuestion,
  type PlacementVerdict,
} from "../../shared/placement/placement_question.ts";
import { createPostApp, jsonAnswer, type PostApp, type PostRoute } from "./post_app.ts";

/** Where a question is asked. */
export const QUESTIONS_ROUTE = "/placement/questions";

/** Where a question's id is sent whose answer was given to nobody. */
export const FORGOTTEN_ROUTE = "/placement/forgotten";

/** Bytes of a question or an answer: names of the API have some hundred. */
export const MOST_PEER_BYTES = 65_536;

/** Whoever gives up says so by the other route. */
const NOBODY_GIVES_UP = new AbortController().signal;

/** Who answers; the controller's port of the same shape. */
export interface AnsweringReplica {
  /** Never throws for what a question holds. */
  answer(question: PlacementQuestion, signal: AbortSignal): Promise<PlacementVerdict>;
  forget(id: string): void;
}

/** An app with these routes: 400 in words to what is no question, 500 without words where it breaks. */
export function peerRoutes(replica: AnsweringReplica): PostApp {
  const answer: PostRoute = async (body) => {
    let question: PlacementQuestion;
    try {
      question = parsePlacementQuestion(body);
    } catch (error) {
      return { status: 400, text: `${error instanceof Error ? error.message : String(error)}\n` };
    }
    return jsonAnswer(await replica.answer(question, NOBODY_GIVES_UP));
  };
  const forget: PostRoute = (id) => {
    replica.forget(id);
    return Promise.resolve({ status: 204, text: "" });
  };
  return createPostApp({ [QUESTIONS_ROUTE]: answer, [FORGOTTEN_ROUTE]: forget }, {
    mostBytes: MOST_PEER_BYTES,
    tooLong: () => ({ status: 400, text: "Cannot read a question of placement: it is too long\n" }),
    // Whoever asked counts what it lacks.
    log: silentLog,
  });
}
