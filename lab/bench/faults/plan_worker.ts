/**
 * Plays plans in a thread of its own.
 *
 * @module
 */
import { answerInThread } from "../../task/thread.ts";
import { playSafely } from "./play_plans.ts";

answerInThread(playSafely);
