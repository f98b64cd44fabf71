// Numbers for things, in the order in which they first come.

/** What gives the number of a thing in `list`, to which it is appended if it is not there. */
export const numbering = <T>(list: T[]): ((x: T) => number) => {
  const numbers = new Map(list.map((x, k) => [x, k]));
  return (x) => {
    let number = numbers.get(x);
    if (number === undefined) numbers.set(x, (number = list.push(x) - 1));
    return number;
  };
};
