// Numbers for things, in the order in which they first come.

/** What gives the number of a thing in `list`, to which it is appended if it is not there. */
export const numbering = <T>(list: T[]): ((x: T) => number) => {
  let numbers: Map<T, number> | undefined;
  return (x) => {
    // of a few, it takes less to look at each
    if (list.length < 8) {
      const number = list.indexOf(x);
      return number < 0 ? list.push(x) - 1 : number;
    }
    numbers ??= new Map(list.map((x, k) => [x, k]));
    let number = numbers.get(x);
    if (number === undefined) numbers.set(x, (number = list.push(x) - 1));
    return number;
  };
};
