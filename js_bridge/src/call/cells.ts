// Where the scalars of values are kept: a memory of WebAssembly, or a row of numbers.

/** The kind of a scalar, as descriptors have it: a Real, an index, a Bool. */
export type Kind = "f" | "i" | "b";

/** Scalars by kind and position. */
export interface Cells {
  readonly f: Float64Array;
  readonly i: Int32Array | Float64Array;
  readonly b: Uint8Array | Float64Array;
  /** Whether values that are put in may be views of these very cells, at any place. */
  readonly shared: boolean;
}

/** Where one leaf is kept: its scalars in a row, from `start` on. */
export interface Leaf {
  cells: Cells;
  start: number;
}

/** Scalars of any kind in a row, each a number. */
export const rowCells = (row: Float64Array): Cells => ({
  f: row,
  i: row,
  b: row,
  shared: false,
});

/** From an address to a position among the scalars of a kind. */
export const SHIFT = { f: 3, i: 2, b: 0 };

/** A leaf as the descriptor of a module gives it. `passed`: `f` itself takes or returns it. */
export type Slot = readonly [
  kind: Kind,
  address: number,
  count: number,
  passed: boolean,
];

/** The position of a leaf among the cells of its kind. */
export const startOf = ([kind, address]: Slot): number =>
  address >>> SHIFT[kind];

/** What uses a memory. */
export interface User {
  /** The first address that it does not use, but for arrays of unknown size: those end at the global `t`. */
  readonly end: number;
  readonly exports: WebAssembly.Exports;
}

/** A memory as arrays, which are made again when it has grown. */
export class MemoryCells implements Cells {
  f!: Float64Array;
  i!: Int32Array;
  b!: Uint8Array;
  /** What uses the memory now, and waits for an opaque function. */
  busy: User | undefined;
  /** How often arguments were put there. */
  turn = 0;

  constructor(
    readonly memory: Pick<WebAssembly.Memory, "buffer">,
    readonly shared: boolean,
  ) {
    this.make();
  }

  private make(): void {
    const { buffer } = this.memory;
    this.f = new Float64Array(buffer, 0, Math.floor(buffer.byteLength / 8));
    this.i = new Int32Array(buffer, 0, Math.floor(buffer.byteLength / 4));
    this.b = new Uint8Array(buffer);
  }

  /**
   * Look whether the memory has grown. That empties the arrays of what it was, which is quicker to see
   * than that its buffer is another.
   */
  refresh(): void {
    if (this.b.length === 0 && this.b.buffer !== this.memory.buffer)
      this.make();
  }
}

/** The scalars of a leaf. */
export type Numbers = Float64Array | Int32Array | Uint8Array;

/** A leaf in the memory as it is now. */
export const leafOf = (slot: Slot, cells: MemoryCells): Numbers => {
  const start = startOf(slot);
  return cells[slot[0]].subarray(start, start + slot[2]);
};

/** The cells of memories that are in use; functions of one memory have them in common. */
const known = new WeakMap<WebAssembly.Memory, MemoryCells>();

export const cellsOf = (
  memory: WebAssembly.Memory,
  shared: boolean,
): MemoryCells => {
  let cells = known.get(memory);
  if (cells === undefined)
    known.set(memory, (cells = new MemoryCells(memory, shared)));
  cells.refresh();
  return cells;
};
