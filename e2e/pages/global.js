const { Real, compile, fn, mul } = rose;
compile(fn([Real], Real, (x) => mul(x, x))).then((square) => {
  document.title = `square: ${square(7)}`;
});
