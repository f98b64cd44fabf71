// What the billiards page says about how a search has ended.

import { count, format } from "../lib/format.js";
import { RADIUS } from "./rack.js";

/** So near to the goal a ball is in the ring. */
export const ENOUGH = RADIUS / 2;

/** So many tries without progress are enough. */
export const PATIENCE = 100;

/**
 * @param {import("../lib/search.js").Search} search
 * @param {number} target
 * @param {number} size  of the last step
 */
export const ending = ({ outcome, best, tries }, target, size) => {
  if (outcome === "going") return "";
  const near = format(Math.sqrt(best.loss), 3);
  const steps = count(tries.length - 1);
  const unit = tries.length === 2 ? "step" : "steps";
  const kept = `Kept is the best try, number ${count(tries.indexOf(best))}: ${near} from the goal.`;
  const ball = `ball ${target}`;
  return {
    arrived:
      `After ${steps} ${unit}, ${ball} is in the ring: ${near} from the goal, ` +
      "less than half its radius.",
    flat:
      `In try ${steps} nothing that the cue ball does reaches ${ball}: the gradient is 0, and there is ` +
      `no way down. ${kept} Shorter steps may help, or another shot to begin with.`,
    stuck:
      `For ${PATIENCE} tries it got no better: from here, the goal seems out of reach. ${kept} ` +
      "Drag the goal, or the cue ball.",
    lost: `A step size of ${format(size)} is too large: ${ball} flew off. ${kept}`,
  }[outcome];
};
