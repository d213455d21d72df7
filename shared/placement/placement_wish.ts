/**
 * What a workload asks of placement.
 *
 * @module
 */
import type { DisruptionWindow } from "./disruption_window.ts";

/** The wish, with its defaults. */
export interface PlacementWish {
  /** The share of replicas that may run on spot nodes, whole percent from 0 to 100. */
  readonly spotPercentage: number;
  /** Replicas on on-demand nodes, whatever the share; more than there are: all of them. */
  readonly minOnDemand: number;
  /** When replicas may be moved; absent: always. */
  readonly window?: DisruptionWindow;
  /** True: no running replica is moved. New ones are still placed, or each would have to move later. */
  readonly paused: boolean;
}
