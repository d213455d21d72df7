/**
 * The routes by which replicas of the webhook ask the one that counts pods.
 *
 * @module
 */
import { Hono } from "hono";
import {
  parsePlacementQuestion,
  type PlacementQuestion,
  type PlacementVerdict,
} from "../../shared/placement/placement_question.ts";
import { boundedText } from "../bounded_text.ts";

/** Where a question is asked. */
export const QUESTIONS_ROUTE = "/placement/questions";

/** Where a question's id is sent whose answer was given to nobody. */
export const FORGOTTEN_ROUTE = "/placement/forgotten";

/** Bytes of a question or an answer: names of the API have some hundred. */
export const MOST_PEER_BYTES = 65_536;

/** Who answers; the controller's port of the same shape. */
export interface AnsweringReplica {
  /** Never throws for what a question holds. */
  answer(question: PlacementQuestion, signal: AbortSignal): Promise<PlacementVerdict>;
  forget(id: string): void;
}

/** An app with these routes: 400 in words to what is no question, 500 without words where it breaks. */
export function peerRoutes(replica: AnsweringReplica): Hono {
  const app = new Hono();
  // The framework's own would write to the console; whoever asked counts what it lacks.
  app.onError((_error, context) => context.text("internal error\n", 500));
  app.post(QUESTIONS_ROUTE, async (context) => {
    const { raw } = context.req;
    const body = await bodyOf(raw);
    let question: PlacementQuestion;
    try {
      question = parsePlacementQuestion(body);
    } catch (error) {
      return context.text(`${error instanceof Error ? error.message : String(error)}\n`, 400);
    }
    return context.json(await replica.answer(question, raw.signal));
  });
  app.post(FORGOTTEN_ROUTE, async (context) => {
    replica.forget(await bodyOf(context.req.raw));
    return context.body(null, 204);
  });
  return app;
}

/** Empty where it is too long. */
async function bodyOf(request: Request): Promise<string> {
  const { signal } = request;
  return await boundedText(request, { mostBytes: MOST_PEER_BYTES, signal }) ?? "";
}
