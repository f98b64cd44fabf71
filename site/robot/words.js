// What the robot page says about how the learning has ended.

import { count, format } from "../lib/format.js";

/** So many tries without progress are enough. */
export const PATIENCE = 50;

/**
 * @param {import("../lib/search.js").Search} search
 * @param {number} size  of the last step
 */
export const ending = ({ outcome, problem, best, tries }, size) => {
  const number = count(tries.indexOf(best));
  const far = format(-best.loss, 3);
  const kept = `Kept is the best try, number ${number}: the foot gets to ${far}.`;
  if (outcome === "lost" && !(best.loss <= problem.limit))
    return "This body does not hold together: it has flown apart. Take some cells away.";
  return {
    going: "",
    arrived: "",
    flat: `Nothing that the network changes moves the foot: the gradient is 0. ${kept}`,
    stuck:
      `For ${PATIENCE} tries it got no better. ${kept} Run goes on from there; ` +
      "shorter steps find what long ones leap over.",
    lost:
      `Steps of length ${format(size)} are too long: in try ${count(tries.length - 1)} the robot flew ` +
      `apart. ${kept}`,
  }[outcome];
};
