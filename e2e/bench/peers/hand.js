// JavaScript by hand: value and gradient as one would write them.

export const hand = {
  name: "JS by hand",
  tolerance: 0, // it is what the others are compared with
  has: () => true,
  load: async () => undefined,
  async prepare(_, workload, n, { x, data = [] }) {
    const { value, gradient } = workload.js(n);
    const args = [x, ...data.map(({ values }) => values)];
    return {
      value: () => value(...args),
      gradient: () => gradient(...args),
      numbers: (result) => (typeof result === "number" ? [result] : result),
    };
  },
};
