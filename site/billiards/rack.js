// The balls of the table: the cue ball, number 0, and ten others in four columns.

export const RADIUS = 0.03;
export const BALLS = 11;

/** Where the balls from number 1 on lie: a column touches, and stands a little askew. */
export const RACK = [0, 1, 2, 3].flatMap((i) =>
  Array.from({ length: i + 1 }, (_, j) => [
    2 * RADIUS * i + 0.5,
    2 * RADIUS * j + 0.5 - 0.7 * RADIUS * i,
  ]),
);
